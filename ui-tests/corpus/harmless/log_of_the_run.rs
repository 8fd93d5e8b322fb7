//! Lines in the log of the run.

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn log_of_the_run(cx: &Cx, order: Order) -> Result<String, Error> {
    cx.log("charging");
    cx.log(format_args!("{} costs {}", order.id, order.cents()));
    Ok(charge(cx, order.cents()).await?)
}
