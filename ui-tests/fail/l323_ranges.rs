//! The supported versions are two literals, the lowest first.

use perennial::prelude::*;

#[activity(pure)]
async fn rounded(_acx: &ActivityCx, sum: u64) -> Result<u64, Failure> {
    Ok(sum)
}

// ANCHOR: code
const NEWEST: u32 = 1;

#[workflow]
async fn invoice(cx: &Cx, sum: u64) -> Result<u64, Error> {
    let sum = match cx.version("rounding", 0..=NEWEST) {
        0 => sum,
        1 => rounded(cx, sum).await?,
    };
    match cx.version("tax", 1..=0) {
        0 => Ok(sum),
        1 => Ok(rounded(cx, sum).await?),
    }
}
// ANCHOR_END: code

fn main() {
    println!("{}", invoice::NAME);
}
