//! The clock reads something else at each replay.

use std::time::{Instant, SystemTime as Clock};

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<u64, Error> {
    let begun = Instant::now();
    let today = Clock::now();
    cx.sleep(days(1)).await?;
    let due = today < std::time::SystemTime::now();
    let later: Option<Instant> = None;
    let later = later.unwrap_or_else(Instant::now);
    Ok(begun.elapsed().as_secs() + u64::from(due) + (later - begun).as_secs())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
