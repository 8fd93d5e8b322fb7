//! `#[durable]` is for functions that wait.

use perennial::prelude::*;

#[durable]
fn helper(cx: &Cx) -> u32 {
    let _ = cx;
    1
}

fn main() {
    let _: fn(&Cx) -> u32 = helper;
}
