//! The environment and the clock, read once and recorded.

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn recorded_settings(cx: &Cx, order: Order) -> Result<String, Error> {
    let rate: u64 = cx.record("rate", || {
        std::env::var("SHOP_RATE")
            .ok()
            .and_then(|rate| rate.parse().ok())
            .unwrap_or(100)
    });
    let zone: String = cx.record("zone", || "UTC".to_owned());
    cx.log(zone);
    Ok(charge(cx, order.cents() * rate / 100).await?)
}
