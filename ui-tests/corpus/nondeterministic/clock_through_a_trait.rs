//! The clock is behind a trait of ours, as code that is tested has it.
//! Found by: perturbed run

use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, mail};

trait Clock {
    fn now(&self) -> SystemTime;
}

struct System;

impl Clock for System {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

#[workflow]
pub async fn clock_through_a_trait(cx: &Cx, order: Order) -> Result<(), Error> {
    let now = System.now();
    mail(cx, format!("{}: {now:?}", order.id)).await?;
    Ok(())
}
