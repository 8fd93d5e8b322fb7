//! What `cx.spawn` begins is replayed with the workflow.

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
    let beside = cx.spawn(async move { ship(cx, 1).await });
    let (two, slept) = join!(ship(cx, 2), cx.sleep(seconds(1)));
    slept?;
    Ok(beside.await? + two?)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
