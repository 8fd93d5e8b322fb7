//! A workflow cannot wait for another one.

use perennial::prelude::*;

#[workflow]
async fn inner(_cx: &Cx, n: u32) -> Result<u32, Error> {
    Ok(n)
}

#[workflow]
async fn outer(cx: &Cx) -> Result<u32, Error> {
    let n = inner(cx, 1).await?;
    Ok(n)
}

fn main() {}
