//! What is recorded is made in a function of ours.

use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, mail};

fn now() -> Timestamp {
    SystemTime::now().into()
}

#[workflow]
pub async fn recorded_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    let at = cx.record("at", now);
    mail(cx, format!("{} at {at}", order.id)).await?;
    Ok(())
}
