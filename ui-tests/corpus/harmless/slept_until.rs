//! A deadline that is computed from the time of the order.

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn slept_until(cx: &Cx, order: Order) -> Result<bool, Error> {
    let deadline = order.placed.max(cx.now()) + days(7);
    cx.sleep_until(deadline).await?;
    mail(cx, format!("it was due on {deadline}")).await?;
    Ok(cx.now() >= deadline)
}
