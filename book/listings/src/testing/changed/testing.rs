//! The workflow after a change that forgets the runs in flight. The file has the name of the one that it is
//! a change of, as it would.

use perennial::prelude::*;

use super::{Customer, Declined, charge, price, send_mail};

// ANCHOR: changed
#[workflow]
pub async fn trial(cx: &Cx, customer: Customer) -> Result<Option<String>, Error> {
    send_mail(cx, customer.name.clone(), "welcome".into()).await?;
    cx.sleep(days(27)).await?;
    send_mail(cx, customer.name.clone(), "three days left".into()).await?;
    cx.sleep(days(3)).await?;
    // ANCHOR_END: changed
    let cents = price(cx, "basic".into()).await?;
    match charge(cx, customer.card, cents).await {
        Ok(receipt) => Ok(Some(receipt)),
        Err(ActivityError::Rejected(Declined)) => {
            send_mail(cx, customer.name, "goodbye".into()).await?;
            Ok(None)
        }
        Err(other) => Err(other.into()),
    }
}
