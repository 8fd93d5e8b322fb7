//! The functions of a crate, by a glob.
//! Found by: macro D102

use fastrand::*;
use perennial::prelude::{Cx, Error, workflow};

use crate::shop::{Order, charge};

#[workflow]
pub async fn random_by_a_glob(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(charge(cx, u64(1..=order.cents())).await?)
}
