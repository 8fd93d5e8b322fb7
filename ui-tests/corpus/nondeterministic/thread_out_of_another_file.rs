//! Threads under another name.
//! Found by: clippy D103

use perennial::prelude::*;

use crate::shop::everyday::*;
use crate::shop::{Order, charge};

#[workflow]
pub async fn thread_out_of_another_file(cx: &Cx, order: Order) -> Result<String, Error> {
    let cents = order.cents();
    let doubled = beside::spawn(move || cents * 2);
    Ok(charge(cx, doubled.join().unwrap_or(cents)).await?)
}
