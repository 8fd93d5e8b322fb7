//! A constant of the file is the function that reads the clock.
//! Found by: perturbed run

use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, mail};

const NOW: fn() -> SystemTime = SystemTime::now;

#[workflow]
pub async fn clock_behind_a_constant(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("{} {:?}", order.id, NOW())).await?;
    Ok(())
}
