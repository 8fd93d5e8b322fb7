//! The length of a timer comes from the clock.
//! Found by: sandbox, changed world

use std::time::Duration;

use chrono::{Timelike, Utc};
use perennial::prelude::*;

use crate::shop::{Order, mail};

fn until_midnight() -> Duration {
    hours(u64::from(24 - Utc::now().hour()))
}

#[workflow]
pub async fn timeout_of_a_date_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    cx.sleep(until_midnight()).await?;
    mail(cx, order.id).await?;
    Ok(())
}
