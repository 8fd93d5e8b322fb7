//! All mistakes in one compile, each once, and nothing follows from them elsewhere.

use perennial::prelude::*;

#[activity(pure, attempt = "soon", colour = "red")]
async fn ship(_acx: &ActivityCx, to: &str) -> Result<u32, Failure> {
    Ok(to.len() as u32)
}

#[workflow(colour = 3)]
async fn order<T>(cx: &Cx, n: u32) -> Result<u32, Error> {
    let a = ship(cx, "there").await?;
    let (b, c) = tokio::join!(ship(cx, "one"), ship(cx, "two"));
    let d = async |m: u32| m;
    Ok(a + n)
}

fn main() {
    println!("{} {}", ship::NAME, order::NAME);
}
