//! The counter stands beside the workflow.
//! Found by: macro D113

use std::sync::atomic::{AtomicU64, Ordering};

use perennial::prelude::*;

use crate::shop::{Order, ship};

static PARCELS: AtomicU64 = AtomicU64::new(0);

#[workflow]
pub async fn static_of_the_file(cx: &Cx, order: Order) -> Result<String, Error> {
    let number = PARCELS.fetch_add(1, Ordering::Relaxed);
    Ok(ship(cx, format!("{}-{number}", order.id)).await?)
}
