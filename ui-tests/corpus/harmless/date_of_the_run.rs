//! The weekday of the run's own time.

use chrono::{DateTime, Datelike, Utc};
use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn date_of_the_run(cx: &Cx, order: Order) -> Result<(), Error> {
    let now: DateTime<Utc> = std::time::SystemTime::from(cx.now()).into();
    mail(cx, format!("{}: see you on {}", order.id, now.weekday())).await?;
    Ok(())
}
