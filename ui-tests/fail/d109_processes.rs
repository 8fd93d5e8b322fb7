//! Other processes, and this one.

use std::process::{self, Command};

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    let printed = Command::new("lpr").status().is_ok();
    cx.sleep(seconds(1)).await?;
    if !printed {
        process::exit(1);
    }
    Ok(process::id())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
