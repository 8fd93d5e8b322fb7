//! What a static holds is what other runs left in it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use perennial::prelude::*;

// ANCHOR: code
static ORDERS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

#[workflow]
async fn order(cx: &Cx) -> Result<u64, Error> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    cx.sleep(seconds(n)).await?;
    Ok(ORDERS.lock().map_or(0, |orders| orders.len() as u64))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
