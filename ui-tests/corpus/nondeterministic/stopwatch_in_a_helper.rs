//! A stopwatch over an await says whether there is time for more.
//! Found by: sandbox, changed world

use std::time::Instant;

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

struct Stopwatch(Instant);

impl Stopwatch {
    fn start() -> Self {
        Self(Instant::now())
    }

    fn minutes(&self) -> u64 {
        self.0.elapsed().as_secs() / 60
    }
}

#[workflow]
pub async fn stopwatch_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    let stopwatch = Stopwatch::start();
    charge(cx, order.cents()).await?;
    cx.sleep(days(1)).await?;
    mail(cx, format!("done within {} minutes", stopwatch.minutes())).await?;
    Ok(())
}
