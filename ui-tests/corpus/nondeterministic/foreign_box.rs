//! A boxed future, of which nobody knows what it is.
//! Found by: macro D118

use std::future::Future;
use std::pin::Pin;

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn rate(currency: &'static str) -> Pin<Box<dyn Future<Output = u64>>> {
    Box::pin(async move { currency.len() as u64 })
}

#[workflow]
pub async fn foreign_box(cx: &Cx, order: Order) -> Result<String, Error> {
    let cents = rate("EUR").await * order.cents();
    Ok(charge(cx, cents).await?)
}
