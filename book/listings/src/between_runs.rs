//! *Between runs*.

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

// ANCHOR: names
pub const RESERVE: Message<Reserve> = Message::new("reserve");
pub const RESERVED: Message<bool> = Message::new("reserved");

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reserve {
    pub order: RunId,
    pub seats: u32,
}
// ANCHOR_END: names

// ANCHOR: order
#[workflow]
pub async fn order(cx: &Cx, hall: RunId, seats: u32) -> Result<bool, Error> {
    let order = cx.run_id();
    cx.send(&hall, RESERVE, &Reserve { order, seats }).await?;
    let answer = cx.receive(RESERVED).timeout(minutes(10)).await?;
    Ok(answer.unwrap_or(false))
}
// ANCHOR_END: order

// ANCHOR: hall
#[workflow]
pub async fn hall(cx: &Cx, mut free: u32) -> Result<u32, Error> {
    while let Some(wish) = cx.receive(RESERVE).timeout(days(30)).await? {
        let reserved = wish.seats <= free;
        match cx.send(&wish.order, RESERVED, &reserved).await {
            Ok(_) if reserved => free -= wish.seats,
            // It has given up meanwhile, and the seats stay free.
            Ok(_) | Err(SendFailure::RunFinished { .. }) => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(free)
}
// ANCHOR_END: hall

// ANCHOR: offer
/// What so many seats cost.
#[stub]
pub async fn quote(cx: &Cx, seats: u32) -> u64;

pub const QUOTE: Message<(OperationId, u32)> = Message::new("quote");

#[workflow]
pub async fn group(cx: &Cx, desk: RunId, seats: u32) -> Result<Option<u64>, Error> {
    let offer = quote(cx, seats).open()?;
    cx.send(&desk, QUOTE, &(offer.reference(), seats)).await?;
    Ok(offer.timeout(days(1)).await?)
}
// ANCHOR_END: offer

// ANCHOR: desk
#[workflow]
pub async fn desk(cx: &Cx, price: u64) -> Result<u64, Error> {
    let mut quoted = 0;
    while let Some((asked, seats)) = cx.receive(QUOTE).timeout(days(30)).await? {
        match cx.fulfil(&asked, quote, &(price * u64::from(seats))).await {
            Ok(_) => quoted += 1,
            // Somebody else has said another price, or the group has given up.
            Err(FulfilFailure::Conflict { .. } | FulfilFailure::Closed { .. }) => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(quoted)
}
// ANCHOR_END: desk
