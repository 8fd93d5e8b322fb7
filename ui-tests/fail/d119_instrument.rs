//! A workflow is replayed, and would be reported again each time.

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
#[tracing::instrument(skip(cx))]
async fn order(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    Ok(())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
