//! Threads belong in an activity; a workflow waits for several of these.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[activity(pure, blocking)]
fn add(_acx: &ActivityCx, parts: Vec<u64>) -> Result<u64, Failure> {
    Ok(std::thread::scope(|scope| {
        let adding = scope.spawn(|| parts.iter().sum());
        adding.join().unwrap_or(0)
    }))
}

#[workflow]
async fn order(cx: &Cx, parts: Vec<u64>) -> Result<u64, Error> {
    let half = parts.len() / 2;
    let (a, b) = try_join!(
        add(cx, parts[..half].to_vec()),
        add(cx, parts[half..].to_vec()),
    )?;
    Ok(a + b)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
