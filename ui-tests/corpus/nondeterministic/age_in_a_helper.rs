//! The age of an order in days.
//! Found by: sandbox, changed world

use chrono::{DateTime, Utc};
use perennial::prelude::*;

use crate::shop::{Order, mail};

fn days_old(placed: Timestamp) -> i64 {
    let placed: DateTime<Utc> = std::time::SystemTime::from(placed).into();
    (Utc::now() - placed).num_days()
}

#[workflow]
pub async fn age_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("ordered {} days ago", days_old(order.placed))).await?;
    Ok(())
}
