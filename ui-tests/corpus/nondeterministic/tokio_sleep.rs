//! A timer that dies with the process.
//! Found by: macro D105

use perennial::prelude::*;
use tokio::time::sleep;

use crate::shop::{Order, mail};

#[workflow]
pub async fn tokio_sleep(cx: &Cx, order: Order) -> Result<(), Error> {
    sleep(days(3)).await;
    mail(cx, format!("how did you like {}?", order.id)).await?;
    Ok(())
}
