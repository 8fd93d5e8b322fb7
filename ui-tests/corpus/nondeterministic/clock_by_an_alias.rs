//! A type alias for the clock.
//! Found by: macro D101

use perennial::prelude::*;

use self::time::Clock;
use crate::shop::{Order, mail};

mod time {
    pub type Clock = std::time::Instant;
}

#[workflow]
pub async fn clock_by_an_alias(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("{} at {:?}", order.id, Clock::now())).await?;
    Ok(())
}
