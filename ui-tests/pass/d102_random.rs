//! A draw is recorded: a replay gets the same.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<String, Error> {
    let dice = cx.random_range(0..6);
    let is_lucky: bool = cx.random();
    cx.sleep(days(dice)).await?;
    Ok(format!("{} {is_lucky}", cx.uuid()))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
