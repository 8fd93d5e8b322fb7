//! `cx.log` speaks once.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use std::fmt::Write;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, n: u32) -> Result<u32, Error> {
    cx.log(format_args!("begun: {n}"));
    cx.sleep(seconds(1)).await?;
    // What is written into a text is not printed.
    let mut text = String::new();
    writeln!(text, "slept").ok();
    cx.log(text);
    Ok(n + 1)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
