//! H206.

use super::*;

// ANCHOR: left_over
#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
    let receipt = charge_card(cx, order).await?;
    Ok(receipt.reference)
}
// ANCHOR_END: left_over
