//! H210.

use super::{Order, send_receipt, ship};
use perennial::prelude::*;
use serde::{Deserialize, Serialize};

// ANCHOR: does_not_decode
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    pub reference: String,
    pub bank: String, // new, and no receipt of old has it
}

#[activity(idempotent)]
pub async fn charge_card(acx: &ActivityCx, _order: Order) -> Result<Receipt, Failure> {
    let (reference, bank) = (acx.idempotency_key(), "First".to_owned());
    Ok(Receipt { reference, bank })
}
// ANCHOR_END: does_not_decode

#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
    let Receipt { reference, .. } = charge_card(cx, order.clone()).await?;
    let receipt = super::Receipt { reference };
    let (parcel, _) = join!(ship(cx, order), send_receipt(cx, receipt));
    Ok(parcel?)
}
