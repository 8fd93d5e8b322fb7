//! Timers that no history records.

use std::thread;
use std::time::Duration;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<bool, Error> {
    thread::sleep(Duration::from_secs(1));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let waited = tokio::time::timeout(Duration::from_secs(5), cx.sleep(seconds(1))).await;
    Ok(waited.is_ok())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
