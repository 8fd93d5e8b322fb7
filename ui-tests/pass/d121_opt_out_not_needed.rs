//! What is not nondeterministic needs no opt-out.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<(), Error> {
    let begun = cx.now();
    cx.sleep(seconds(1)).await?;
    cx.log(format_args!("begun at {begun}"));
    Ok(())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
