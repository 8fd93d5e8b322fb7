//! The clock of another crate.
//! Found by: macro D101

use chrono::{Datelike, Utc};
use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn chrono_utc_now(cx: &Cx, order: Order) -> Result<String, Error> {
    let discount = if Utc::now().weekday() == chrono::Weekday::Mon {
        10
    } else {
        0
    };
    Ok(charge(cx, order.cents() * (100 - discount) / 100).await?)
}
