//! A mistake inside of an opt-out is reported where it is.

use std::time::SystemTime;

use perennial::prelude::*;

#[workflow]
async fn order(cx: &Cx) -> Result<u64, Error> {
    #[allow_nondeterminism(clock, reason = "never used")]
    let now: u64 = SystemTime::now();
    #[allow_nondeterminism(clock, reason = "never used")]
    cx.log(SystemTime::now());
    #[allow_nondeterminism(clock, reason = "never used")]
    SystemTime::now()
}

fn main() {
    println!("{}", order::NAME);
}
