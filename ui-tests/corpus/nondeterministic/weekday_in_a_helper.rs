//! It depends on the day of the week what is done.
//! Found by: sandbox, changed world

use chrono::{Datelike, Utc};
use perennial::prelude::*;

use crate::shop::{Order, mail};

fn weekday() -> String {
    Utc::now().weekday().to_string()
}

#[workflow]
pub async fn weekday_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("{}: see you next {}", order.id, weekday())).await?;
    Ok(())
}
