//! Files are others at a replay.

use std::fs;
use std::path::{Path, PathBuf};

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, folder: PathBuf) -> Result<String, Error> {
    let exists = Path::new("orders").exists();
    let listed = folder.join("today").read_dir().is_ok();
    let text = fs::read_to_string("orders.txt").unwrap_or_default();
    let again = tokio::fs::read_to_string("orders.txt").await;
    let opened = fs::File::open("orders.txt").is_ok();
    cx.log(format_args!("{exists} {listed} {opened} {}", again.is_ok()));
    Ok(text)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
