//! A shop as it was and as it became: what has the same name here is the same workflow to its runs.

use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, Runtime};

#[activity(idempotent, attempt = "30s")]
pub(crate) async fn charge_card(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

#[activity(idempotent, attempt = "30s")]
pub(crate) async fn ship(_acx: &ActivityCx, receipt: u64) -> Result<(), Failure> {
    assert!(receipt > 0);
    Ok(())
}

#[activity(idempotent, attempt = "30s")]
pub(crate) async fn check_address(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(pure)]
pub(crate) async fn nobody_calls(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

/// Charges, waits a week, ships.
#[workflow(name = "order")]
pub(crate) async fn order_1(cx: &Cx, cents: u64) -> Result<u64, Error> {
    let receipt = charge_card(cx, cents).await?;
    cx.sleep(days(7)).await?;
    ship(cx, receipt).await?;
    Ok(receipt)
}

/// What goes to the shipper is another type: all that is recorded fits.
#[workflow(name = "order")]
pub(crate) async fn order_2(cx: &Cx, cents: u64) -> Result<u64, Error> {
    let receipt = charge_card(cx, cents).await?;
    cx.sleep(days(14)).await?;
    ship(cx, receipt).await?;
    ship(cx, receipt + 1).await?;
    Ok(receipt)
}

/// Checks the address before all else: nothing that is recorded fits.
#[workflow(name = "order")]
pub(crate) async fn order_3(cx: &Cx, cents: u64) -> Result<u64, Error> {
    check_address(cx).await?;
    let receipt = charge_card(cx, cents).await?;
    cx.sleep(days(7)).await?;
    ship(cx, receipt).await?;
    Ok(receipt)
}

/// Panics over what a card was charged.
#[workflow(name = "order")]
pub(crate) async fn order_4(cx: &Cx, cents: u64) -> Result<u64, Error> {
    let receipt = charge_card(cx, cents).await?;
    assert!(receipt < 2_000, "no receipt has that number");
    cx.sleep(days(7)).await?;
    ship(cx, receipt).await?;
    Ok(receipt)
}

/// Checks the address first, in runs that have not passed that place.
#[workflow(name = "order")]
pub(crate) async fn order_5(cx: &Cx, cents: u64) -> Result<u64, Error> {
    if cx.patched("address-check") {
        check_address(cx).await?;
    }
    let receipt = charge_card(cx, cents).await?;
    cx.sleep(days(7)).await?;
    ship(cx, receipt).await?;
    Ok(receipt)
}

#[workflow]
pub(crate) async fn refund(cx: &Cx, cents: u64) -> Result<(), Error> {
    ship(cx, cents).await?;
    Ok(())
}

/// The shop as it is released.
pub(crate) fn shop_1(store: impl Store) -> Builder {
    shop(store).workflow(order_1).artifact("shop 1")
}

/// One that fits all runs.
pub(crate) fn shop_2(store: impl Store) -> Builder {
    shop(store).workflow(order_2).artifact("shop 2")
}

/// One that fits no run.
pub(crate) fn shop_3(store: impl Store) -> Builder {
    shop(store)
        .workflow(order_3)
        .activity(check_address)
        .artifact("shop 3")
}

/// One that panics.
pub(crate) fn shop_4(store: impl Store) -> Builder {
    shop(store).workflow(order_4).artifact("shop 4")
}

/// One with a marker.
pub(crate) fn shop_5(store: impl Store) -> Builder {
    shop(store)
        .workflow(order_5)
        .activity(check_address)
        .artifact("shop 5")
}

fn shop(store: impl Store) -> Builder {
    Runtime::builder(store)
        .workflow(refund)
        .activities((charge_card, ship))
}
