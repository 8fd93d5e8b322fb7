//! A helper reads a file.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn rate() -> u64 {
    let text = std::fs::read_to_string("/etc/shop/rate").unwrap_or_default();
    text.trim().parse().unwrap_or(100)
}

#[workflow]
pub async fn file_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(charge(cx, order.cents() * rate() / 100).await?)
}
