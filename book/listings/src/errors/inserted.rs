//! H203.

use super::*;

// ANCHOR: inserted
#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
    let receipt = charge_card(cx, order.clone()).await?;
    pack(cx, order.clone()).await?;
    let (parcel, _) = join!(ship(cx, order), send_receipt(cx, receipt));
    Ok(parcel?)
}
// ANCHOR_END: inserted
