//! Macros of ours that compute and that make things.

use perennial::prelude::*;

use crate::shop::{Line, Order, charge};

macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(Error::new(format!($($text)+)));
        }
    };
}

macro_rules! lines {
    ($($sku:literal: $cents:expr),* $(,)?) => {
        vec![$(Line { sku: $sku.to_owned(), count: 1, cents: $cents }),*]
    };
}

#[workflow]
pub async fn own_macros(cx: &Cx, mut order: Order) -> Result<String, Error> {
    ensure!(!order.lines.is_empty(), "{} is empty", order.id);
    order.lines.extend(lines! { "gift": 0, "wrapping": 250 });
    let receipt = charge(cx, order.cents()).await?;
    ensure!(receipt.len() < 200, "too long: {receipt}");
    Ok(receipt)
}
