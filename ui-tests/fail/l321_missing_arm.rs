//! Each supported version has an arm.

use perennial::prelude::*;

#[activity(pure)]
async fn rounded(_acx: &ActivityCx, sum: u64) -> Result<u64, Failure> {
    Ok(sum)
}

// ANCHOR: code
#[workflow]
async fn invoice(cx: &Cx, sum: u64) -> Result<u64, Error> {
    match cx.version("rounding", 0..=2) {
        0 => Ok(sum),
        1 => Ok(rounded(cx, sum).await?),
    }
}
// ANCHOR_END: code

fn main() {
    println!("{}", invoice::NAME);
}
