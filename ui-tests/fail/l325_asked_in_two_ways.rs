//! All calls of a marker support the same versions, and have the same form.

use perennial::prelude::*;

#[activity(pure)]
async fn check_for_fraud(_acx: &ActivityCx, cents: u64) -> Result<bool, Failure> {
    Ok(cents > 100)
}

// ANCHOR: code
#[durable]
async fn is_fine(cx: &Cx, cents: u64) -> Result<bool, Error> {
    match cx.version("fraud-check", 0..=1) {
        0 => Ok(true),
        1 => Ok(check_for_fraud(cx, cents).await?),
    }
}

#[workflow]
async fn order(cx: &Cx, cents: u64) -> Result<bool, Error> {
    match cx.version("fraud-check", 0..=2) {
        0 | 1 => is_fine(cx, cents).await,
        2 => Ok(check_for_fraud(cx, cents + 1).await?),
    }
}
// ANCHOR_END: code

#[workflow]
async fn mixed(cx: &Cx) -> Result<bool, Error> {
    if cx.patched("mixed") {
        cx.sleep(seconds(1)).await?;
    }
    Ok(if cx.patched_each("mixed") { true } else { false })
}

fn main() {
    println!("{} {}", order::NAME, mixed::NAME);
}
