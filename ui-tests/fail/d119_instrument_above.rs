//! The same where the other attribute comes first, and has rewritten the body already.

use perennial::prelude::*;

#[tracing::instrument(skip(cx))]
#[workflow]
async fn order(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    Ok(())
}

#[tracing::instrument]
#[durable]
async fn helper(cx: &Cx, n: u32) -> Result<u32, Error> {
    cx.sleep(seconds(1)).await?;
    Ok(n)
}

fn main() {
    println!("{}", order::NAME);
}
