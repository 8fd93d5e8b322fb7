//! H203.

use super::*;

// ANCHOR: inserted
#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
    let receipt = charge_card(cx, order.clone()).await?;
    let (parcel, _, _) = join!(
        ship(cx, order.clone()),
        send_receipt(cx, receipt),
        pack(cx, order),
    );
    Ok(parcel?)
}
// ANCHOR_END: inserted
