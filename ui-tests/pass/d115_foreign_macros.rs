//! The macros of this crate do the same, and are checked.

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
    let (a, b) = join!(ship(cx, 1), ship(cx, 2));
    select! {
        c = ship(cx, 3) => Ok(c?),
        _ = cx.sleep(seconds(1)) => Ok(a? + b?),
    }
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
