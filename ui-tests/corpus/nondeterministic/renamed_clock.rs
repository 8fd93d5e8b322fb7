//! The clock has another name in this file.
//! Found by: macro D101

use std::time::SystemTime as Clock;

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn renamed_clock(cx: &Cx, order: Order) -> Result<(), Error> {
    let late = Clock::now() > Clock::from(order.placed + hours(24));
    mail(cx, format!("late: {late}")).await?;
    Ok(())
}
