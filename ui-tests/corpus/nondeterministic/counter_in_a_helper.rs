//! A number that is handed out by a static counter.
//! Found by: perturbed run

use std::sync::atomic::{AtomicU64, Ordering};

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[workflow]
pub async fn counter_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    for line in order.lines {
        ship(cx, format!("{}-{}", line.sku, next_number())).await?;
    }
    Ok(())
}
