//! *Testing workflows*: what is tested. The tests are in `tests/book/testing.rs`.

use std::collections::HashMap;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

// ANCHOR: workflow
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub id: String,
    pub cents: u64,
}

#[activity(idempotent, retry(attempts = 5, initial = "1s", factor = 2))]
pub async fn charge_card(_acx: &ActivityCx, order: Order) -> Result<String, Failure<String>> {
    Err(Failure::transient(format!(
        "no bank here to charge {}",
        order.cents
    )))
}

#[activity(idempotent)]
pub async fn ship(_acx: &ActivityCx, order: Order, receipt: String) -> Result<(), Failure> {
    Err(Failure::transient(format!(
        "no parcel for {} and {receipt}",
        order.id
    )))
}

#[activity(idempotent)]
pub async fn refund(_acx: &ActivityCx, receipt: String) -> Result<(), Failure> {
    Err(Failure::transient(format!(
        "no bank here to refund {receipt}"
    )))
}

/// Charges and ships; what was not shipped within a week is refunded.
#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<bool, Error> {
    let receipt = charge_card(cx, order.clone()).await?;
    select! {
        shipped = ship(cx, order, receipt.clone()) => {
            shipped?;
            Ok(true)
        }
        _ = cx.sleep(days(7)) => {
            cx.log("not shipped in time");
            refund(cx, receipt).await?;
            Ok(false)
        }
    }
}
// ANCHOR_END: workflow

// ANCHOR: swallows
/// The mail is not worth a failed run.
#[workflow]
pub async fn fulfil_and_tell(cx: &Cx, order: Order) -> Result<(), Error> {
    charge_card(cx, order.clone()).await?;
    if let Err(error) = send_mail(cx, order.id).await {
        cx.log(format_args!("no mail: {error}"));
    }
    Ok(())
}
// ANCHOR_END: swallows

#[activity(idempotent)]
pub async fn send_mail(_acx: &ActivityCx, order: String) -> Result<(), Failure> {
    Err(Failure::transient(format!("no mail about {order}")))
}

// ANCHOR: hidden
/// The items of an order, each once. It has another order in each process, and no attribute sees into it.
fn items(order: &Order) -> Vec<String> {
    let words = order.id.split('+').map(str::to_owned);
    let counts: HashMap<String, u64> = words.map(|item| (item, 1)).collect();
    counts.into_keys().collect()
}

#[workflow]
pub async fn ship_each(cx: &Cx, order: Order) -> Result<(), Error> {
    for item in items(&order) {
        let part = Order { id: item, cents: 0 };
        ship(cx, part, "R-1".to_owned()).await?;
    }
    Ok(())
}
// ANCHOR_END: hidden

// ANCHOR: activity
/// Only computes.
#[activity(pure, blocking)]
pub fn vat(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents * 19 / 119)
}

#[workflow]
pub async fn invoice(cx: &Cx, order: Order) -> Result<u64, Error> {
    Ok(vat(cx, order.cents).await?)
}
// ANCHOR_END: activity
