//! An activity talks to the world; a helper that waits is `#[durable]`.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[activity(idempotent, attempt = "10s")]
async fn fetch(_acx: &ActivityCx, url: String) -> Result<String, Failure> {
    Ok(url)
}

#[durable]
async fn fetch_later(cx: &Cx, url: &str) -> Result<String, Error> {
    cx.sleep(seconds(1)).await?;
    Ok(fetch(cx, url.to_owned()).await?)
}

#[workflow]
async fn order(cx: &Cx) -> Result<String, Error> {
    fetch_later(cx, "https://shop.example").await
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
