//! A stub is a signature, and only that.

use perennial::prelude::*;

#[stub]
async fn with_a_body(cx: &Cx, order: String) -> bool {
    !order.is_empty()
}

#[stub]
fn not_async(cx: &Cx) -> bool;

#[stub]
async fn without_context(order: String) -> bool;

#[stub]
async fn of_an_activity(acx: &ActivityCx) -> bool;

#[stub]
async fn borrowed(cx: &Cx, order: &str) -> &'a str;

#[stub(nmae = "review")]
async fn misspelt(cx: &Cx) -> bool;

#[stub]
struct Review;

struct Shop;

impl Shop {
    #[stub]
    async fn a_method(&self, cx: &Cx) -> bool;
}

#[workflow]
async fn uses_them(cx: &Cx) -> Result<bool, Error> {
    Ok(with_a_body(cx, String::new()).await? && not_async(cx).await?)
}

fn main() {}
