//! A setting is an input, or is read once and recorded.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, shop: String) -> Result<String, Error> {
    // Read once and recorded.
    let region = cx.record("region", || std::env::var("REGION").unwrap_or_default());
    // What was there when it was compiled is part of the program.
    let package = env!("CARGO_PKG_NAME");
    Ok(format!("{shop} {region} {package}"))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
