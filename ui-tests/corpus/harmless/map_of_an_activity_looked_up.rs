//! The map of an activity is looked up in the order of the lines.

use perennial::prelude::*;

use crate::shop::{Order, mail, ship, stock};

#[workflow]
pub async fn map_of_an_activity_looked_up(cx: &Cx, order: Order) -> Result<(), Error> {
    let skus = order.lines.iter().map(|line| line.sku.clone()).collect();
    let there = stock(cx, skus).await?;
    for line in order.lines {
        match there.get(&line.sku) {
            Some(count) if *count >= line.count => drop(ship(cx, line.sku).await?),
            _ => mail(cx, format!("{} is missing", line.sku)).await?,
        }
    }
    Ok(())
}
