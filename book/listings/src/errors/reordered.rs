//! H205.

use super::*;

// ANCHOR: reordered
#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
    let receipt = charge_card(cx, order.clone()).await?;
    let (_, parcel) = join!(send_receipt(cx, receipt), ship(cx, order));
    Ok(parcel?)
}
// ANCHOR_END: reordered
