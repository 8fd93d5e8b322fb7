//! *Errors*: a workflow, and changes of it that do not fit histories that it wrote.

pub mod changed;
pub mod changed_input;
pub mod does_not_decode;
pub mod inserted;
pub mod left_over;
pub mod marked;
pub mod removed;
pub mod reordered;

use std::sync::Arc;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub id: String,
    pub cents: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    pub reference: String,
}

/// The shop as the activities see it. While it is closed, nothing is shipped.
#[derive(Clone, Debug, Default)]
pub struct Shop {
    /// Where it is closed: told when somebody comes.
    pub closed: Option<Arc<Semaphore>>,
}

#[activity(idempotent)]
pub async fn charge_card(acx: &ActivityCx, _order: Order) -> Result<Receipt, Failure> {
    let reference = acx.idempotency_key();
    Ok(Receipt { reference })
}

#[activity(idempotent)]
pub async fn ship(acx: &ActivityCx, order: Order) -> Result<String, Failure> {
    if let Some(told) = &acx.state::<Shop>().closed {
        told.add_permits(1);
        std::future::pending::<()>().await;
    }
    Ok(format!("parcel of {}", order.id))
}

#[activity(idempotent)]
pub async fn send_receipt(_acx: &ActivityCx, _receipt: Receipt) -> Result<(), Failure> {
    Ok(())
}

#[activity(idempotent)]
pub async fn pack(_acx: &ActivityCx, order: Order) -> Result<String, Failure> {
    Ok(format!("box of {}", order.id))
}

// ANCHOR: fulfil
#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
    let receipt = charge_card(cx, order.clone()).await?;
    let (parcel, _) = join!(ship(cx, order), send_receipt(cx, receipt));
    Ok(parcel?)
}
// ANCHOR_END: fulfil

// ANCHOR: panicked
#[workflow]
pub async fn share(cx: &Cx, cents: u64, guests: u64) -> Result<u64, Error> {
    let _ = cx;
    Ok(cents / guests)
}
// ANCHOR_END: panicked

// ANCHOR: runaway
#[workflow]
pub async fn find_lucky_number(cx: &Cx) -> Result<u64, Error> {
    loop {
        let number = cx.random_range(0..100);
        if number == 100 {
            return Ok(number);
        }
    }
}
// ANCHOR_END: runaway

// ANCHOR: not_durable
macro_rules! value_of {
    ($future:expr) => {
        $future.await
    };
}

#[workflow]
pub async fn wait_unseen(cx: &Cx) -> Result<(), Error> {
    cx.sleep(millis(1)).await?;
    value_of!(std::future::pending::<()>());
    Ok(())
}
// ANCHOR_END: not_durable

// ANCHOR: unstorable
#[workflow]
pub async fn average(cx: &Cx, sum: f64, count: f64) -> Result<f64, Error> {
    let _ = cx;
    Ok(sum / count)
}
// ANCHOR_END: unstorable
