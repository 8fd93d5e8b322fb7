//! The name of a marker is a literal.

use perennial::prelude::*;

#[activity(pure)]
async fn check_for_fraud(_acx: &ActivityCx) -> Result<bool, Failure> {
    Ok(false)
}

// ANCHOR: code
const CHECK: &str = "fraud-check";

#[workflow]
async fn order(cx: &Cx) -> Result<bool, Error> {
    if cx.patched(CHECK) {
        return Ok(check_for_fraud(cx).await?);
    }
    Ok(true)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
