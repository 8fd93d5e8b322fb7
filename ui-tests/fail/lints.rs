//! Lints fire where they would on a plain function: once, on the user's token.

#![deny(warnings)]

use perennial::prelude::*;

#[workflow]
pub async fn unused(cx: &Cx, mut n: u32, (a, b): (u8, u8)) -> Result<u32, Error> {
    let unused = 1;
    let mut also = 2;
    Ok(also + n + u32::from(a))
}

#[activity(pure)]
async fn never_called(acx: &ActivityCx, mut n: u32, m: u32) -> Result<u32, Failure> {
    return Ok(n);
    Ok(1)
}

#[durable]
pub async fn helper(cx: &Cx, mut n: u32, (a, b): (u8, u8), _ignored: u8) -> u32 {
    n
}

#[deprecated(note = "use another")]
#[activity(pure)]
pub async fn old(_acx: &ActivityCx, BadName: u32) -> Result<u32, Failure> {
    Ok(BadName)
}

#[workflow]
pub async fn Calls(cx: &Cx) -> Result<(), Error> {
    old(cx, 1);
    old(cx, (1)).await?;
    cx.sleep(seconds(1)).await;
    helper(cx, 1, (1, 2), 3);
    Ok(())
}

fn main() {}
