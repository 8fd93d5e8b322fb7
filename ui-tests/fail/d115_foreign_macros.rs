//! Macros of other crates wait where nobody can look.

use perennial::prelude::*;

// ANCHOR: code
#[activity(pure)]
async fn ship(_acx: &ActivityCx, n: u32) -> Result<u32, Failure> {
    Ok(n)
}


#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    let (a, b) = tokio::join!(ship(cx, 1).into_future(), ship(cx, 2).into_future());
    tokio::select! {
        c = ship(cx, 3).into_future() => Ok(c?),
        _ = cx.sleep(seconds(1)) => Ok(a? + b?),
    }
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
