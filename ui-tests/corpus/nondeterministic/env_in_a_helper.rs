//! A helper asks the environment.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Order, mail};

fn sends_mail() -> bool {
    std::env::var_os("SHOP_SENDS_NO_MAIL").is_none()
}

#[workflow]
pub async fn env_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    if sends_mail() {
        mail(cx, order.id).await?;
    }
    Ok(())
}
