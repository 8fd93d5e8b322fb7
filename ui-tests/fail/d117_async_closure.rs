//! What an `async` closure waits for cannot be checked.

use perennial::prelude::*;

// ANCHOR: code
#[activity(pure)]
async fn ship(_acx: &ActivityCx, n: u32) -> Result<u32, Failure> {
    Ok(n)
}


#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    let ship_one = async |n: u32| ship(cx, n).await;
    drop(ship_one);
    Ok(1)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
