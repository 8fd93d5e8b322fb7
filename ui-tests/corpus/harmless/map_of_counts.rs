//! A map is filled with the entry interface, measured and asked for keys.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn map_of_counts(cx: &Cx, order: Order) -> Result<usize, Error> {
    let mut counts = HashMap::with_capacity(order.lines.len());
    for line in &order.lines {
        *counts.entry(line.sku.clone()).or_insert(0) += line.count;
    }
    if let Entry::Vacant(free) = counts.entry("gift".to_owned()) {
        free.insert(1);
    }
    counts.remove("sku-3");
    if counts.contains_key("gift") && !counts.is_empty() {
        ship(cx, format!("gift and {} others", counts.len())).await?;
    }
    Ok(counts.len())
}
