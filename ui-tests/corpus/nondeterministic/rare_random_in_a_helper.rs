//! One in millions is drawn, which hardly a test sees.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn is_audited() -> bool {
    rand::random_ratio(1, 100_000_000)
}

#[workflow]
pub async fn rare_random_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    let cents = if is_audited() { 0 } else { order.cents() };
    Ok(charge(cx, cents).await?)
}
