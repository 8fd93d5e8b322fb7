//! A marker stands where the code of each version can be told.

use perennial::prelude::*;

#[activity(pure)]
async fn check_for_fraud(_acx: &ActivityCx, cents: u64) -> Result<bool, Failure> {
    Ok(cents > 100)
}

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, cents: u64) -> Result<bool, Error> {
    if cents > 100 || cx.patched("fraud-check") {
        return Ok(check_for_fraud(cx, cents).await?);
    }
    Ok(true)
}
// ANCHOR_END: code

#[durable]
async fn helper(cx: &Cx, cents: u64) -> Result<bool, Error> {
    let version = cx.version("helper", 0..=1);
    assert!(!cx.patched_each("asserted"));
    let cents = match cx.version("arms", 0..=3) {
        0 if cents > 1 => cents,
        1 | 2 => 1,
        _ => check_for_fraud(cx, cents).await?.into(),
    };
    Ok(version > 0 && cents > 0)
}

#[durable]
fn not_async(cx: &Cx) -> bool {
    cx.patched("not-async")
}

fn main() {
    println!("{}", order::NAME);
    let _ = (helper, not_async);
}
