//! An await that nobody can look at.

use perennial::prelude::*;

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
    let a = first!(ship(cx, 1).await?, 2);
    let (b, _) = tokio::join!(ship(cx, 1).into_future(), ship(cx, 2).into_future());
    let c = async |n: u32| ship(cx, n).await;
    drop(c);
    Ok(a + b?)
}

fn main() {}
