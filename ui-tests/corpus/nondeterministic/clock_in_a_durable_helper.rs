//! The helper that reads the clock is `#[durable]`.
//! Found by: macro D101

use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[durable]
async fn remind(cx: &Cx, id: &str) -> Result<(), Error> {
    let at = Timestamp::from(SystemTime::now());
    Ok(mail(cx, format!("{id} is not paid at {at}")).await?)
}

#[workflow]
pub async fn clock_in_a_durable_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    cx.sleep(days(14)).await?;
    remind(cx, &order.id).await
}
