//! An opt-out of which nothing is left to allow.

use std::time::SystemTime;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<(), Error> {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    let begun = cx.now();
    #[allow_nondeterminism(clock, random, reason = "only for a log line")]
    let a = SystemTime::now();
    cx.log(format_args!("{begun} {a:?}"));
    Ok(())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
