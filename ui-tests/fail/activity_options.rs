//! Values of options are checked where they stand.

use perennial::prelude::*;

#[activity(pure, attempt = "soon", timeout = "30", name = "")]
async fn durations(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(pure, attempt = 30, timeout = "0s")]
async fn numbers(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(pure, retry(attempts = 0, factor = 1.5, cap = "x"))]
async fn retries(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(pure, retry = 3)]
async fn retry(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
