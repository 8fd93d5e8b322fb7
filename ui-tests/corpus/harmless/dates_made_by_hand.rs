//! `Utc` makes dates of numbers.

use chrono::{DateTime, NaiveDate, TimeDelta, TimeZone, Utc};
use perennial::prelude::*;

use crate::shop::{Order, mail};

fn due(placed: DateTime<Utc>) -> Option<DateTime<Utc>> {
    placed.checked_add_signed(TimeDelta::days(14))
}

#[workflow]
pub async fn dates_made_by_hand(cx: &Cx, order: Order) -> Result<(), Error> {
    let opened = Utc.with_ymd_and_hms(2020, 2, 29, 8, 0, 0).single();
    let placed = Utc
        .timestamp_millis_opt(i64::try_from(order.placed.as_millis())?)
        .single();
    let day = NaiveDate::from_ymd_opt(2024, 1, 31).map(|day| day.and_hms_opt(0, 0, 0));
    if let (Some(opened), Some(placed)) = (opened, placed) {
        mail(
            cx,
            format!("{} {:?} {day:?}", (placed - opened).num_days(), due(placed)),
        )
        .await?;
    }
    Ok(())
}
