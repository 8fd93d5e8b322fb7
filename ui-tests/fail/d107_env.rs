//! The next process may have another environment.

use std::env;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<String, Error> {
    let shop = env::var("SHOP").unwrap_or_default();
    let count = env::args().count();
    let folder = env::current_dir().is_ok();
    cx.log(format_args!("{count} {folder}"));
    Ok(shop)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
