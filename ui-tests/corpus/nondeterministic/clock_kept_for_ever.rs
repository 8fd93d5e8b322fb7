//! The process keeps the first answer of the clock, so that it seems to stand still.
//! Found by: sandbox, strict

use std::sync::OnceLock;
use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, mail};

fn started() -> SystemTime {
    static STARTED: OnceLock<SystemTime> = OnceLock::new();
    *STARTED.get_or_init(SystemTime::now)
}

#[workflow]
pub async fn clock_kept_for_ever(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("{}: open since {:?}", order.id, started())).await?;
    Ok(())
}
