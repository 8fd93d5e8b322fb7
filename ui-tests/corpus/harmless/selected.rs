//! The first of two things.

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

#[workflow]
pub async fn selected(cx: &Cx, order: Order) -> Result<bool, Error> {
    let paid = select! {
        _ = cx.sleep(hours(1)) => false,
        receipt = charge(cx, order.cents()) => receipt.is_ok(),
    };
    if !paid {
        mail(cx, "we could not charge you".to_owned()).await?;
    }
    Ok(paid)
}
