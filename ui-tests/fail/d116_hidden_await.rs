//! A macro may do anything with an await.

use perennial::prelude::*;

// ANCHOR: code
macro_rules! first {
    ($first:expr, $second:expr) => {
        $first
    };
}


#[activity(pure)]
async fn ship(_acx: &ActivityCx, n: u32) -> Result<u32, Failure> {
    Ok(n)
}


#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    Ok(first!(ship(cx, 1).await?, 2))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
