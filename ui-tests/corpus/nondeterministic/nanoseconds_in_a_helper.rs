//! A key from the time, to the nanosecond.
//! Found by: perturbed run

use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn key(id: &str) -> String {
    let age = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("{id}-{}", age.as_nanos())
}

#[workflow]
pub async fn nanoseconds_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(ship(cx, key(&order.id)).await?)
}
