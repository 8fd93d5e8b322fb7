//! A type alias of another file is a clock.
//! Found by: clippy D101

use perennial::prelude::*;

use crate::shop::everyday::Stopwatch;
use crate::shop::{Order, charge, mail};

#[workflow]
pub async fn stopwatch_out_of_another_file(cx: &Cx, order: Order) -> Result<(), Error> {
    let stopwatch = Stopwatch::now();
    charge(cx, order.cents()).await?;
    mail(cx, format!("done in {:?}", stopwatch.elapsed())).await?;
    Ok(())
}
