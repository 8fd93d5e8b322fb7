//! Chance falls otherwise at each replay.

use std::hash::{BuildHasher, RandomState};

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<u64, Error> {
    let dice = RandomState::new().hash_one("throw") % 6;
    cx.sleep(days(dice)).await?;
    Ok(dice)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
