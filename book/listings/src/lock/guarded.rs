//! Orders.

use perennial::prelude::*;

/// Charges the card.
#[activity(idempotent, name = "charge-card")]
pub async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

/// Sends one item.
#[activity(idempotent)]
pub async fn ship(_acx: &ActivityCx, _item: u64) -> Result<(), Failure> {
    Ok(())
}

/// Asks the bank.
#[activity(pure)]
pub async fn fraud_check(_acx: &ActivityCx, cents: u64) -> Result<bool, Failure> {
    Ok(cents > 10_000)
}

/// Fulfils an order.
#[workflow]
pub async fn fulfil(cx: &Cx, items: Vec<u64>) -> Result<u64, Error> {
    let total: u64 = items.iter().sum();
    let paid = charge(cx, total).await?;
    if total > 1_000 {
        cx.sleep(days(1)).await?;
    }
    // ANCHOR: guarded
    if cx.patched("fraud-check") {
        let suspicious = fraud_check(cx, total).await?;
        if suspicious {
            return Ok(0);
        }
    }
    // ANCHOR_END: guarded
    for item in items {
        ship_one(cx, item).await?;
    }
    Ok(paid)
}

#[durable]
async fn ship_one(cx: &Cx, item: u64) -> Result<(), Error> {
    let (sent, _) = join!(ship(cx, item), cx.sleep(minutes(1)));
    Ok(sent?)
}
