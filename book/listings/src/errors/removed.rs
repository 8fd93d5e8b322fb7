//! H204.

use super::*;

// ANCHOR: removed
#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
    charge_card(cx, order.clone()).await?;
    Ok(ship(cx, order).await?)
}
// ANCHOR_END: removed
