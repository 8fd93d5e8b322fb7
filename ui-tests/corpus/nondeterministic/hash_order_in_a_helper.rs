//! A function of ours groups with a map, and gives a list.
//! Found by: perturbed run

use std::collections::HashMap;

use perennial::prelude::*;

use crate::shop::{Line, Order, ship};

fn merged(lines: &[Line]) -> Vec<String> {
    let mut counts = HashMap::new();
    for line in lines {
        *counts.entry(line.sku.as_str()).or_insert(0) += line.count;
    }
    counts
        .into_iter()
        .map(|(sku, count)| format!("{count} x {sku}"))
        .collect()
}

#[workflow]
pub async fn hash_order_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    for parcel in merged(&order.lines) {
        ship(cx, parcel).await?;
    }
    Ok(())
}
