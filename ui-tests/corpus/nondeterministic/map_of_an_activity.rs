//! An activity gives a map, and the loop takes it as it comes.
//! Found by: clippy D111

use perennial::prelude::*;

use crate::shop::{Order, ship, stock};

#[workflow]
pub async fn map_of_an_activity(cx: &Cx, order: Order) -> Result<(), Error> {
    let skus = order.lines.into_iter().map(|line| line.sku).collect();
    for (sku, count) in stock(cx, skus).await? {
        if count > 2 {
            ship(cx, sku).await?;
        }
    }
    Ok(())
}
