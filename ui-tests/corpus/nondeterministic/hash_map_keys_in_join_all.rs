//! The keys of a map, all at once.
//! Found by: macro D111

use std::collections::HashMap;

use perennial::prelude::*;

use crate::shop::{Order, price};

#[workflow]
pub async fn hash_map_keys_in_join_all(cx: &Cx, order: Order) -> Result<u64, Error> {
    let counts: HashMap<&str, u32> = order
        .lines
        .iter()
        .map(|line| (line.sku.as_str(), line.count))
        .collect();
    let prices = join_all(counts.keys().map(|sku| price(cx, (*sku).to_owned()))).await;
    Ok(prices.into_iter().flatten().sum())
}
