//! Awaited before the macro, or in one whose grammar is known.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
macro_rules! first {
    ($first:expr, $second:expr) => {
        $first
    };
}


#[activity(pure)]
async fn ship(_acx: &ActivityCx, n: u32) -> Result<u32, Failure> {
    Ok(n)
}


#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    let shipped = ship(cx, 1).await?;
    Ok(first!(shipped, 2) + vec![ship(cx, 2).await?].len() as u32)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
