//! `cx.sleep` is recorded, and holds over crashes.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<bool, Error> {
    cx.sleep(seconds(1)).await?;
    let in_time = select! {
        _ = cx.sleep(seconds(1)) => true,
        _ = cx.sleep(seconds(5)) => false,
    };
    Ok(in_time)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
