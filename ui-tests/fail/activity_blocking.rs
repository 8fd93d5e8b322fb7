//! `blocking` goes with a plain `fn`, and a plain `fn` with `blocking`.

use perennial::prelude::*;

#[activity(pure)]
fn plain(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(pure, blocking)]
async fn asynchronous(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
