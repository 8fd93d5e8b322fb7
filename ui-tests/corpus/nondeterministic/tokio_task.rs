//! A task of the runtime does a part of the work.
//! Found by: macro D104

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn tokio_task(cx: &Cx, order: Order) -> Result<String, Error> {
    let cents = order.cents();
    tokio::spawn(async move { drop(cents) });
    Ok(charge(cx, cents).await?)
}
