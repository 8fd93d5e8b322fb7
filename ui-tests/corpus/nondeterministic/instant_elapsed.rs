//! A monotonic clock decides whether an excuse is sent.
//! Found by: macro D101

use std::time::{Duration, Instant};

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

#[workflow]
pub async fn instant_elapsed(cx: &Cx, order: Order) -> Result<(), Error> {
    let started = Instant::now();
    charge(cx, order.cents()).await?;
    if started.elapsed() > Duration::from_secs(5) {
        mail(cx, "sorry that it took so long".to_owned()).await?;
    }
    Ok(())
}
