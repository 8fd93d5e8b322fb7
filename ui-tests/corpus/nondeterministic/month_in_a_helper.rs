//! The month says which catalogue is sent.
//! Found by: sandbox, changed world

use chrono::{Datelike, Utc};
use perennial::prelude::*;

use crate::shop::{Order, mail};

fn catalogue() -> String {
    format!("catalogue-{}", Utc::now().month())
}

#[workflow]
pub async fn month_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("{}: {}", order.customer, catalogue())).await?;
    Ok(())
}
