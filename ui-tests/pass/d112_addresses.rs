//! An id of one's own is the same each time.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, name: String) -> Result<String, Error> {
    let id = cx.uuid();
    let bytes = name.len() as u64;
    Ok(format!("{id} {bytes} {name:?} {{:p}}"))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
