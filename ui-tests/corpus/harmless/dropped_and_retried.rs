//! A call with options, one that is dropped, and a timer that is dropped.

use perennial::prelude::*;

use crate::shop::{Order, charge, ship};

#[workflow]
pub async fn dropped_and_retried(cx: &Cx, order: Order) -> Result<String, Error> {
    let never_started = ship(cx, order.id.clone());
    drop(never_started);
    let timer = cx.spawn(cx.sleep(days(1)));
    let receipt = charge(cx, order.cents())
        .retry(Retry::new().attempts(3))
        .await?;
    drop(timer);
    Ok(receipt)
}
