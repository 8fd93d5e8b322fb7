//! An `async fn` that nobody has checked.
//! Found by: macro D118

use perennial::prelude::*;

use crate::shop::{Order, charge};

async fn exchange_rate(currency: &str) -> u64 {
    tokio::task::yield_now().await;
    currency.len() as u64
}

#[workflow]
pub async fn foreign_function(cx: &Cx, order: Order) -> Result<String, Error> {
    let rate = exchange_rate("EUR").await;
    Ok(charge(cx, order.cents() * rate).await?)
}
