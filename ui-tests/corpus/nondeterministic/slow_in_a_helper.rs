//! After two days by the stopwatch somebody is told.
//! Found by: sandbox, changed world

use std::time::Instant;

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

struct Patience {
    since: Instant,
}

impl Patience {
    fn new() -> Self {
        Self {
            since: Instant::now(),
        }
    }

    fn is_lost(&self) -> bool {
        self.since.elapsed() > days(2)
    }
}

#[workflow]
pub async fn slow_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    let patience = Patience::new();
    charge(cx, order.cents()).await?;
    if patience.is_lost() {
        mail(cx, "sorry that it took so long".to_owned()).await?;
    }
    Ok(())
}
