//! Atomics and a `Mutex` that are variables of the run, as code of others may ask for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use perennial::prelude::*;

use crate::shop::{Order, charge};

struct Totals {
    cents: AtomicU64,
    first: OnceLock<u64>,
}

fn add(totals: &Totals, cents: u64) {
    totals.cents.fetch_add(cents, Ordering::Relaxed);
    totals.first.get_or_init(|| cents);
}

#[workflow]
pub async fn local_atomics_and_locks(cx: &Cx, order: Order) -> Result<String, Error> {
    let totals = Arc::new(Totals {
        cents: AtomicU64::new(0),
        first: OnceLock::new(),
    });
    let shared = Arc::clone(&totals);
    order.lines.iter().for_each(|line| add(&shared, line.cents));
    let first = totals.first.get().copied().unwrap_or(0);
    Ok(charge(cx, totals.cents.load(Ordering::Relaxed) + first).await?)
}
