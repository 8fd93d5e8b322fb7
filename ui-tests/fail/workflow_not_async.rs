//! A workflow is an `async fn`; what calls it still finds it.

use perennial::prelude::*;

#[workflow]
fn order(cx: &Cx, n: u32) -> Result<u32, Error> {
    cx.sleep(seconds(1)).await?;
    Ok(n)
}

fn main() {
    println!("{}", order::NAME);
}
