//! *Migration*.

use perennial::prelude::*;
use perennial_runtime::{Builder, Client, IntoStore, RunError, RunHandle, Runtime};
use serde::{Deserialize, Serialize};

#[activity(idempotent, attempt = "30s")]
pub async fn charge_card(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

#[activity(idempotent, attempt = "1h")]
pub async fn print_label(_acx: &ActivityCx, order: String) -> Result<(), Failure> {
    // Some printers take their time.
    drop(order);
    std::future::pending().await
}

#[activity(idempotent, attempt = "30s")]
pub async fn ship(_acx: &ActivityCx, parcel: Parcel) -> Result<(), Failure> {
    drop(parcel);
    Ok(())
}

// ANCHOR: released
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub id: String,
    pub cents: u64,
}

#[workflow]
pub async fn order(cx: &Cx, order: Order) -> Result<(), Error> {
    charge_card(cx, order.cents).await?;
    let (label, paused) = join!(print_label(cx, order.id), cx.sleep(days(14)));
    label?;
    Ok(paused?)
}
// ANCHOR_END: released

// ANCHOR: next
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parcel {
    pub order: Order,
    /// What was charged, if something was.
    pub receipt: Option<u64>,
}

/// Parcels are shipped at once, and charged where that was not done.
#[workflow]
pub async fn parcel(cx: &Cx, mut parcel: Parcel) -> Result<(), Error> {
    if parcel.receipt.is_none() {
        parcel.receipt = Some(charge_card(cx, parcel.order.cents).await?);
    }
    Ok(ship(cx, parcel).await?)
}
// ANCHOR_END: next

// ANCHOR: migration
#[migration(from = order, to = parcel)]
pub fn to_parcel(old: &OldRun) -> Result<Parcel, Refuse> {
    let order: Order = old.input()?;
    if order.cents > 100_000 {
        return Err(Refuse::because("orders of that size are shipped by hand"));
    }
    old.keep(print_label);
    old.stop_timers();
    Ok(Parcel {
        order,
        receipt: old.last_result(charge_card)?,
    })
}
// ANCHOR_END: migration

/// What is missing in this one is what is open.
#[migration(from = order, to = parcel)]
pub fn careless(old: &OldRun) -> Result<Parcel, Refuse> {
    Ok(Parcel {
        order: old.input()?,
        receipt: old.last_result(charge_card)?,
    })
}

// ANCHOR: gone
/// The function `cart` was deleted long ago; a few of its runs were not.
#[migration(from = "cart", to = order)]
pub fn cart_to_order(old: &OldRun) -> Result<Order, Refuse> {
    old.keep_named("reserve_stock");
    old.stop_timers();
    let lines: Vec<u64> = old.input()?;
    Ok(Order {
        id: old.id().to_string(),
        cents: lines.iter().sum(),
    })
}
// ANCHOR_END: gone

// ANCHOR: program
pub fn program(store: impl IntoStore) -> Builder {
    Runtime::builder(store)
        .workflow(order)
        .workflow(parcel)
        .activities((charge_card, print_label, ship))
        .migration(to_parcel)
}
// ANCHOR_END: program

type Done = Result<(), Box<dyn std::error::Error>>;

// ANCHOR: migrate
pub async fn move_order(client: &Client) -> Done {
    let new = client.migrate("order-42", to_parcel, "parcel-42").await?;
    new.result().await?;
    // Asked again, in a retry for one: it is the same run.
    let same = client.migrate("order-42", to_parcel, "parcel-42").await?;
    assert_eq!(same.id(), new.id());
    Ok(())
}
// ANCHOR_END: migrate

// ANCHOR: result
pub async fn follow(old: &RunHandle<order>) -> Result<Option<String>, RunError<Error>> {
    match old.result().await {
        Ok(()) => Ok(None),
        Err(RunError::Migrated { to, .. }) => Ok(Some(to.id.to_string())),
        Err(error) => Err(error),
    }
}
// ANCHOR_END: result
