//! A generator of random numbers, by an import of its name.
//! Found by: macro D102

use perennial::prelude::*;
use rand::{RngExt as _, rng};

use crate::shop::{Order, charge};

#[workflow]
pub async fn rand_generator(cx: &Cx, order: Order) -> Result<String, Error> {
    let discount = rng().random_range(0..order.cents());
    Ok(charge(cx, order.cents() - discount).await?)
}
