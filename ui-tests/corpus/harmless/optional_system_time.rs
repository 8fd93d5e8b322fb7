//! Times of the system's type, which come from the history.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use perennial::prelude::*;

use crate::shop::{Order, mail};

fn reminder(paid: Option<SystemTime>, placed: SystemTime) -> SystemTime {
    paid.unwrap_or(placed) + Duration::from_secs(86_400)
}

#[workflow]
pub async fn optional_system_time(cx: &Cx, order: Order) -> Result<u64, Error> {
    let placed = SystemTime::from(order.placed);
    let paid: Option<SystemTime> = None;
    let at = reminder(paid, placed);
    let waited = SystemTime::from(cx.now())
        .duration_since(placed)
        .unwrap_or_default();
    mail(
        cx,
        format!(
            "{:?} {}",
            at.duration_since(UNIX_EPOCH),
            waited.as_secs() % 2
        ),
    )
    .await?;
    Ok(waited.as_secs())
}
