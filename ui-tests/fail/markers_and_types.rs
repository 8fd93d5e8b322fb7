//! What rustc says about the arms of a marker stands on the user's tokens, and is about their types alone.

use perennial::prelude::*;

#[activity(pure)]
async fn rounded(_acx: &ActivityCx, sum: u64) -> Result<u64, Failure> {
    Ok(sum)
}

#[workflow]
async fn invoice(cx: &Cx, sum: u64) -> Result<u64, Error> {
    let total: u64 = match cx.version("rounding", 0..=1) {
        0 => sum,
        1 => rounded(cx, sum).await,
    };
    if cx.patched("tax", 1) {
        unknown_function(cx).await?;
    }
    Ok(total)
}

fn main() {
    println!("{}", invoice::NAME);
}
