//! Settings that are read from the environment once in a process.
//! Found by: sandbox, strict

use std::sync::LazyLock;

use perennial::prelude::*;

use crate::shop::{Order, charge};

static RATE: LazyLock<u64> = LazyLock::new(|| {
    std::env::var("SHOP_RATE")
        .ok()
        .and_then(|rate| rate.parse().ok())
        .unwrap_or(100)
});

#[workflow]
pub async fn settings_kept_for_ever(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(charge(cx, order.cents() * *RATE / 100).await?)
}
