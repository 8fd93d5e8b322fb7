//! What is in an opt-out is linted as before, at the user's tokens.

#![deny(unused)]

use std::time::SystemTime;

use perennial::prelude::*;

#[must_use]
fn important(time: SystemTime) -> bool {
    time > SystemTime::UNIX_EPOCH
}

#[workflow]
async fn order(cx: &Cx) -> Result<(), Error> {
    #[allow_nondeterminism(clock, reason = "never used")]
    let now = SystemTime::now();
    #[allow_nondeterminism(clock, reason = "never used")]
    important(SystemTime::now());
    #[allow_nondeterminism(clock, reason = "never used")]
    let mut kept = SystemTime::now();
    #[allow_nondeterminism(clock, reason = "never used")]
    if (important(SystemTime::now())) {
        cx.log("important");
    }
    cx.log(format_args!("{kept:?}"));
    Ok(())
}

fn main() {
    println!("{}", order::NAME);
}
