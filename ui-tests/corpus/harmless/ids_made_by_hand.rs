//! Ids are made of numbers and bytes that are given.

use perennial::prelude::*;
use uuid::{Builder, Uuid};

use crate::shop::{Order, ship};

#[workflow]
pub async fn ids_made_by_hand(cx: &Cx, order: Order) -> Result<(), Error> {
    let first = Uuid::from_u128(u128::from(order.seed) << 64);
    let second = Builder::from_random_bytes(*b"0123456789abcdef").into_uuid();
    ship(cx, format!("{first} {}", second.simple())).await?;
    Ok(())
}
