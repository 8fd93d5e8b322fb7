//! A tester is drawn from the lines.
//! Found by: macro D102

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn fastrand_choice(cx: &Cx, order: Order) -> Result<String, Error> {
    let drawn = fastrand::usize(..order.lines.len());
    Ok(ship(cx, order.lines[drawn].sku.clone()).await?)
}
