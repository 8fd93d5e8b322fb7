//! H202.

use super::*;

// ANCHOR: changed_input
#[workflow]
pub async fn fulfil(cx: &Cx, mut order: Order) -> Result<String, Error> {
    order.cents += 490; // postage
    let receipt = charge_card(cx, order.clone()).await?;
    let (parcel, _) = join!(ship(cx, order), send_receipt(cx, receipt));
    Ok(parcel?)
}
// ANCHOR_END: changed_input
