//! A function of another crate is handed on by another file.
//! Found by: clippy D102

use perennial::prelude::*;

use crate::shop::everyday::number;
use crate::shop::{Order, charge};

#[workflow]
pub async fn random_out_of_another_file(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(charge(cx, number(1..=order.cents())).await?)
}
