//! Two maps are compared and summed up in a helper, where the order does not matter.

use std::collections::HashMap;

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn weight(tags: &HashMap<String, u32>) -> u32 {
    tags.values().sum()
}

#[workflow]
pub async fn maps_compared(cx: &Cx, order: Order) -> Result<String, Error> {
    let same = order.tags.clone() == order.tags;
    Ok(charge(cx, u64::from(weight(&order.tags)) + u64::from(same)).await?)
}
