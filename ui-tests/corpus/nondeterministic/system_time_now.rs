//! The time of day, asked of the system, goes into a mail.
//! Found by: macro D101

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn system_time_now(cx: &Cx, order: Order) -> Result<(), Error> {
    let now = std::time::SystemTime::now();
    mail(cx, format!("{}: {now:?}", order.id)).await?;
    Ok(())
}
