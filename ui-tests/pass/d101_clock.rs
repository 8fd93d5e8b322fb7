//! `cx.now()` is the same at each replay.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use std::time::{Duration, SystemTime};

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, due: Option<SystemTime>) -> Result<u64, Error> {
    let begun = cx.now();
    cx.sleep(days(1)).await?;
    let taken = cx.now().since(begun);
    // Times are data: only the look at the clock is denied.
    let epoch = SystemTime::UNIX_EPOCH + Duration::from_secs(60);
    let is_due = due.is_some_and(|due| due < epoch);
    Ok(taken.as_secs() + u64::from(is_due))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
