//! A `dbg!` that somebody left behind.
//! Found by: macro D110

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn dbg_left_behind(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(charge(cx, dbg!(order.cents())).await?)
}
