//! Awaits in blocks, arms, conditions, arguments and `async` blocks of `async` blocks.

use perennial::prelude::*;

use crate::shop::{Order, charge, mail, price, ship};

#[durable]
async fn total(cx: &Cx, order: &Order) -> Result<u64, Error> {
    let mut sum = 0;
    for line in &order.lines {
        sum += match price(cx, line.sku.clone()).await? {
            0 => continue,
            cents if cents > 10_000 => break,
            cents => cents * u64::from(line.count),
        };
    }
    Ok(sum)
}

#[workflow]
pub async fn work_in_nested_blocks(cx: &Cx, order: Order) -> Result<String, Error> {
    let receipt = charge(cx, total(cx, &order).await?).await?;
    let both = async {
        let inner = async { ship(cx, order.id.clone()).await };
        let parcel = inner.await?;
        if mail(cx, { parcel.clone() }).await.is_ok() {
            cx.sleep(seconds(1)).await?;
        }
        Ok::<_, Error>(parcel)
    };
    Ok(receipt + &both.await?)
}
