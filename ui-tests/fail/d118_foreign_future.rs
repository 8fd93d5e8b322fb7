//! A workflow can wait only for what its history records.

use perennial::prelude::*;

// ANCHOR: code
async fn fetch(url: &str) -> Result<String, std::io::Error> {
    Ok(url.to_owned())
}

#[workflow]
async fn order(cx: &Cx) -> Result<String, Error> {
    cx.sleep(seconds(1)).await?;
    let page = fetch("https://shop.example").await;
    Ok(page.unwrap_or_default())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
