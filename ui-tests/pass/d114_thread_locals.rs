//! A local variable is built again by replay.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use std::cell::Cell;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    let depth = Cell::new(0);
    depth.set(depth.get() + 1);
    cx.sleep(seconds(1)).await?;
    Ok(depth.get())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
