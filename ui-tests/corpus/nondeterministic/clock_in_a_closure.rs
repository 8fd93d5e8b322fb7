//! A closure of the workflow reads the clock.
//! Found by: macro D101

use std::time::{SystemTime, UNIX_EPOCH};

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn clock_in_a_closure(cx: &Cx, order: Order) -> Result<(), Error> {
    let stamped = |sku: &str| {
        let age = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        format!("{sku}@{}", age.as_secs())
    };
    for line in &order.lines {
        ship(cx, stamped(&line.sku)).await?;
    }
    Ok(())
}
