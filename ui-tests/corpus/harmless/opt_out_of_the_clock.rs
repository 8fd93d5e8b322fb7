//! The clock is read for a line in a log, with an opt-out.

use std::time::Instant;

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn opt_out_of_the_clock(cx: &Cx, order: Order) -> Result<String, Error> {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    let started = Instant::now();
    let cents = order.lines.iter().map(|line| line.cents).sum();
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    {
        tracing::debug!("added up in {:?}", started.elapsed());
    }
    Ok(charge(cx, cents).await?)
}
