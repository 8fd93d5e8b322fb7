//! *Errors*: a workflow, and changes of it that do not fit histories that it wrote.

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

/// H201.
pub mod changed {
    use super::*;

    // ANCHOR: changed
    #[workflow]
    pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
        let receipt = charge_card(cx, order.clone()).await?;
        let (parcel, _) = join!(pack(cx, order), send_receipt(cx, receipt));
        Ok(parcel?)
    }
    // ANCHOR_END: changed
}

/// H202.
pub mod changed_input {
    use super::*;

    // ANCHOR: changed_input
    #[workflow]
    pub async fn fulfil(cx: &Cx, mut order: Order) -> Result<String, Error> {
        order.cents += 490; // postage
        let receipt = charge_card(cx, order.clone()).await?;
        let (parcel, _) = join!(ship(cx, order), send_receipt(cx, receipt));
        Ok(parcel?)
    }
    // ANCHOR_END: changed_input
}

/// H203.
pub mod inserted {
    use super::*;

    // ANCHOR: inserted
    #[workflow]
    pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
        let receipt = charge_card(cx, order.clone()).await?;
        let (parcel, _, _) = join!(
            ship(cx, order.clone()),
            send_receipt(cx, receipt),
            pack(cx, order),
        );
        Ok(parcel?)
    }
    // ANCHOR_END: inserted
}

/// H204.
pub mod removed {
    use super::*;

    // ANCHOR: removed
    #[workflow]
    pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
        charge_card(cx, order.clone()).await?;
        Ok(ship(cx, order).await?)
    }
    // ANCHOR_END: removed
}

/// H206.
pub mod left_over {
    use super::*;

    // ANCHOR: left_over
    #[workflow]
    pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
        let receipt = charge_card(cx, order).await?;
        Ok(receipt.reference)
    }
    // ANCHOR_END: left_over
}

/// H210.
pub mod does_not_decode {
    use super::{Order, send_receipt, ship};
    use perennial::prelude::*;
    use serde::{Deserialize, Serialize};

    // ANCHOR: does_not_decode
    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub struct Receipt {
        pub reference: String,
        pub bank: String, // new, and no receipt of old has it
    }

    #[activity(idempotent)]
    pub async fn charge_card(acx: &ActivityCx, _order: Order) -> Result<Receipt, Failure> {
        let (reference, bank) = (acx.idempotency_key(), "First".to_owned());
        Ok(Receipt { reference, bank })
    }
    // ANCHOR_END: does_not_decode

    #[workflow]
    pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
        let Receipt { reference, .. } = charge_card(cx, order.clone()).await?;
        let receipt = super::Receipt { reference };
        let (parcel, _) = join!(ship(cx, order), send_receipt(cx, receipt));
        Ok(parcel?)
    }
}

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
