//! An opt-out that says what it allows, and why.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use std::time::Instant;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<(), Error> {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    let begun = Instant::now();
    cx.sleep(seconds(1)).await?;
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    cx.log(format_args!("slept for {:?}", begun.elapsed()));
    Ok(())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
