//! The clock is handed on as a function, and never called by name.
//! Found by: macro D101

use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn clock_as_a_function(cx: &Cx, order: Order) -> Result<(), Error> {
    let paid: Option<SystemTime> = order.id.ends_with("paid").then(|| order.placed.into());
    let paid = paid.unwrap_or_else(SystemTime::now);
    mail(cx, format!("paid at {}", Timestamp::from(paid))).await?;
    Ok(())
}
