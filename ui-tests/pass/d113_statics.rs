//! A local variable is built again by replay; a static that cannot change is a constant.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
static NAMES: [&str; 2] = ["a", "b"];

#[workflow]
async fn order(cx: &Cx) -> Result<u64, Error> {
    const LIMIT: u64 = 3;
    static GREETING: &str = "hello";
    let mut count = 0;
    while count < LIMIT {
        cx.sleep(seconds(count)).await?;
        count += 1;
    }
    cx.log(format_args!("{GREETING} {}", NAMES[0]));
    Ok(count)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
