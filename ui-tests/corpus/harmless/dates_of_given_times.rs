//! Dates are parsed, formatted and compared, and no clock is asked.

use chrono::{DateTime, Datelike, Days, NaiveDate, Utc, Weekday};
use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn dates_of_given_times(cx: &Cx, order: Order) -> Result<String, Error> {
    let placed: DateTime<Utc> = std::time::SystemTime::from(order.placed).into();
    let due = placed.checked_add_days(Days::new(14)).unwrap_or(placed);
    let holiday = NaiveDate::parse_from_str("2026-12-25", "%Y-%m-%d")?;
    let parsed = DateTime::parse_from_rfc3339("2026-01-31T00:00:00Z")?;
    if due.weekday() == Weekday::Sun || due.date_naive() == holiday || due > parsed {
        mail(cx, due.format("%d %B %Y").to_string()).await?;
    }
    Ok(due.to_rfc3339())
}
