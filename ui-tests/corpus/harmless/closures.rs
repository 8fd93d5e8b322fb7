//! Closures that compute, and those that give something to wait for.

use perennial::prelude::*;

use crate::shop::{Order, mail, price};

#[workflow]
pub async fn closures(cx: &Cx, order: Order) -> Result<u64, Error> {
    let reduced = |cents: u64| cents * 9 / 10;
    let ask = |sku: String| async move { price(cx, sku).await };
    let mut sum = 0;
    for line in &order.lines {
        sum += reduced(ask(line.sku.clone()).await?);
    }
    let mut say = |text: &str| mail(cx, format!("{text} {sum}"));
    say("it costs").await?;
    Ok(sum)
}
