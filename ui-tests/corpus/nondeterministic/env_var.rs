//! The environment turns a step on.
//! Found by: macro D107

use std::env;

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn env_var(cx: &Cx, order: Order) -> Result<(), Error> {
    if env::var("SHOP_SENDS_MAIL").is_ok_and(|set| set == "1") {
        mail(cx, order.id).await?;
    }
    Ok(())
}
