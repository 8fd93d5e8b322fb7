//! A loop over a map whose order is another in each process.
//! Found by: macro D111

use std::collections::HashMap;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn hash_map_loop(cx: &Cx, order: Order) -> Result<(), Error> {
    let mut counts = HashMap::new();
    for line in &order.lines {
        *counts.entry(line.sku.clone()).or_insert(0) += line.count;
    }
    for (sku, _) in &counts {
        ship(cx, sku.clone()).await?;
    }
    Ok(())
}
