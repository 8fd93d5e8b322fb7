//! The runtime puts each run into a span.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<(), Error> {
    cx.log("begun");
    cx.sleep(seconds(1)).await?;
    Ok(())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
