//! An activity reads the file, and its result is recorded.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use std::path::{Path, PathBuf};

use perennial::prelude::*;

// ANCHOR: code
#[activity(idempotent)]
async fn read(_acx: &ActivityCx, path: PathBuf) -> Result<String, Failure> {
    Ok(std::fs::read_to_string(path).unwrap_or_default())
}

#[workflow]
async fn order(cx: &Cx, folder: PathBuf) -> Result<String, Error> {
    // Paths are data: only what looks at the disk is denied.
    let path = folder.join("today").with_extension("txt");
    let name = Path::new("orders").file_name().map(PathBuf::from);
    cx.log(format_args!("{name:?}"));
    Ok(read(cx, path).await?)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
