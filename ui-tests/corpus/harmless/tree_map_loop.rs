//! Loops over maps and sets that are sorted.

use std::collections::{BTreeMap, BTreeSet};

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn tree_map_loop(cx: &Cx, order: Order) -> Result<(), Error> {
    let mut counts = BTreeMap::new();
    for line in &order.lines {
        *counts.entry(line.sku.as_str()).or_insert(0) += line.count;
    }
    for (sku, count) in &counts {
        ship(cx, format!("{count} x {sku}")).await?;
    }
    let skus: BTreeSet<_> = counts.keys().collect();
    for sku in skus.iter().rev() {
        ship(cx, (**sku).to_string()).await?;
    }
    for count in counts.into_values() {
        ship(cx, count.to_string()).await?;
    }
    Ok(())
}
