//! A closure that gives an `async` block can be.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[activity(pure)]
async fn ship(_acx: &ActivityCx, n: u32) -> Result<u32, Failure> {
    Ok(n)
}


#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    let ship_one = |n: u32| async move { ship(cx, n).await };
    Ok(ship_one(1).await? + ship_one(2).await?)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
