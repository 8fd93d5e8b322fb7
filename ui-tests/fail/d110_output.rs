//! Each replay would print again.

use std::io::Write;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, n: u32) -> Result<u32, Error> {
    println!("begun: {n}");
    eprintln!("begun: {n}");
    cx.sleep(seconds(1)).await?;
    writeln!(std::io::stdout(), "slept").ok();
    Ok(dbg!(n + 1))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
