//! The crate under another name, and only re-exported by one of the user's own. RW-37.

#![deny(warnings)]

extern crate perennial as other;

mod house {
    pub mod sdk {
        pub use ::perennial::*;
    }
}

/// Shadows the default path for nobody: that one begins with `::`.
#[allow(dead_code)]
mod perennial {}

use house::sdk;

#[other::activity(pure, crate = other)]
async fn act(_: &other::ActivityCx, n: u32) -> Result<u32, other::Failure> {
    Ok(n)
}

// ANCHOR: house
#[sdk::workflow(crate = crate::house::sdk)]
async fn work(cx: &sdk::Cx, n: u32) -> Result<u32, sdk::Error> {
    let (a, b) = sdk::join!(act(cx, n), async { help(cx, n).await });
    Ok(a? + b?)
}
// ANCHOR_END: house

#[sdk::durable(crate = "house::sdk")]
async fn help(cx: &sdk::Cx, n: u32) -> Result<u32, sdk::Error> {
    Ok(act(cx, n).await?)
}

fn main() {
    assert_eq!(work::NAME, "work");
}
