//! `elapsed` of a time that is itself recorded.
//! Found by: macro D101

use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn elapsed_of_a_given_time(cx: &Cx, order: Order) -> Result<(), Error> {
    let placed = SystemTime::from(order.placed);
    if placed.elapsed().is_ok_and(|age| age > days(30)) {
        mail(cx, "are you still there?".to_owned()).await?;
    }
    Ok(())
}
