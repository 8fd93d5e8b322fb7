//! *Snapshot-testing histories*.

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

// ANCHOR: types
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Customer {
    pub email: String,
    pub card: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub number: String,
}
// ANCHOR_END: types

#[activity(idempotent)]
pub async fn send_mail(acx: &ActivityCx, to: String, subject: String) -> Result<(), Failure> {
    let _ = acx.idempotency_key();
    Err(Failure::transient(format!(
        "no mail server for {subject} to {to}"
    )))
}

#[activity(idempotent)]
pub async fn charge_card(acx: &ActivityCx, card: String) -> Result<Receipt, Failure> {
    let _ = acx.idempotency_key();
    Err(Failure::transient(format!("no bank for card {card}")))
}

// ANCHOR: workflow
#[workflow]
pub async fn subscribe(cx: &Cx, customer: Customer) -> Result<Receipt, Error> {
    send_mail(cx, customer.email, "Welcome".to_owned()).await?;
    cx.sleep(days(14)).await?;
    Ok(charge_card(cx, customer.card).await?)
}
// ANCHOR_END: workflow

pub mod changed {
    //! As somebody would change it who does not think of those in their trial.

    use super::{Customer, Receipt, charge_card, send_mail};
    use perennial::prelude::*;

    // ANCHOR: changed
    #[workflow]
    pub async fn subscribe(cx: &Cx, customer: Customer) -> Result<Receipt, Error> {
        send_mail(cx, customer.email.clone(), "Welcome".to_owned()).await?;
        cx.sleep(days(12)).await?;
        send_mail(cx, customer.email, "Two more days".to_owned()).await?;
        cx.sleep(days(2)).await?;
        Ok(charge_card(cx, customer.card).await?)
    }
    // ANCHOR_END: changed
}
