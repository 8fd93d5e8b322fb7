//! The year is a part of the number of a receipt.
//! Found by: sandbox, changed world

use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, ship};

const YEAR: u64 = 31_556_952;

fn numbered(id: &str) -> String {
    let age = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("{}-{id}", 1970 + age.as_secs() / YEAR)
}

#[workflow]
pub async fn year_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(ship(cx, numbered(&order.id)).await?)
}
