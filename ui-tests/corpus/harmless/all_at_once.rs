//! As many things as there are lines, by `join_all`.

use perennial::prelude::*;

use crate::shop::{Order, charge, price};

#[workflow]
pub async fn all_at_once(cx: &Cx, order: Order) -> Result<String, Error> {
    let prices = join_all(order.lines.iter().map(|line| price(cx, line.sku.clone()))).await;
    let sum = prices.into_iter().sum::<Result<u64, _>>()?;
    Ok(charge(cx, sum).await?)
}
