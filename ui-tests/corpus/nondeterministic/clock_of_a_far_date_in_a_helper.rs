//! A helper compares the clock with a date that is far away.
//! Found by: sandbox, strict

use std::time::{Duration, SystemTime};

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn is_next_century() -> bool {
    SystemTime::now() > SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800)
}

#[workflow]
pub async fn clock_of_a_far_date_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    let cents = if is_next_century() { 0 } else { order.cents() };
    Ok(charge(cx, cents).await?)
}
