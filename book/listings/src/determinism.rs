//! *Determinism*.

use std::collections::BTreeMap;

use perennial::prelude::*;

// ANCHOR: instead
#[workflow]
pub async fn careful(cx: &Cx, votes: Vec<String>) -> Result<String, Error> {
    let began = cx.now(); // not `SystemTime::now()`
    let ticket = cx.uuid(); // not `Uuid::new_v4()`
    let lot = cx.random_range(0..100); // not `rand::random()`
    let host = cx.record("host", || std::env::var("HOSTNAME").unwrap_or_default());

    let mut count = BTreeMap::new(); // a `HashMap` has another order in each process
    for vote in votes {
        *count.entry(vote).or_insert(0) += 1;
    }
    cx.log(format_args!("{host}: lot {lot} of {ticket}")); // not `println!`, which each replay repeats

    cx.sleep(millis(1)).await?; // not `tokio::time::sleep`
    assert!(cx.now() > began);
    Ok(format!("{count:?}"))
}
// ANCHOR_END: instead

// ANCHOR: helper
/// The cheapest offer; of equal ones the first by name.
#[durable]
pub fn cheapest(offers: &BTreeMap<String, u64>) -> Option<&String> {
    let cheapest = offers.iter().min_by_key(|(_, cents)| **cents);
    cheapest.map(|(name, _)| name)
}
// ANCHOR_END: helper
