//! A counter that outlives the run.
//! Found by: macro D113

use std::sync::atomic::{AtomicU64, Ordering};

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn static_in_the_body(cx: &Cx, order: Order) -> Result<String, Error> {
    static PARCELS: AtomicU64 = AtomicU64::new(0);
    let number = PARCELS.fetch_add(1, Ordering::Relaxed);
    Ok(ship(cx, format!("{}-{number}", order.id)).await?)
}
