//! H201.

use super::*;

// ANCHOR: changed
#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
    let receipt = charge_card(cx, order.clone()).await?;
    let (parcel, _) = join!(pack(cx, order), send_receipt(cx, receipt));
    Ok(parcel?)
}
// ANCHOR_END: changed
