//! A loop over a map whose order cannot matter, with an opt-out.

use std::collections::HashMap;

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn opt_out_of_hash_order(cx: &Cx, order: Order) -> Result<String, Error> {
    let counts: HashMap<String, u32> = order
        .lines
        .iter()
        .map(|line| (line.sku.clone(), line.count))
        .collect();
    let mut pieces = 0;
    #[allow_nondeterminism(hash_order, reason = "a sum is the same in any order")]
    for count in counts.values() {
        pieces += u64::from(*count);
    }
    Ok(charge(cx, pieces).await?)
}
