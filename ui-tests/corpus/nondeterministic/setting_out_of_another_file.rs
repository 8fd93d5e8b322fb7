//! The environment under another name.
//! Found by: clippy D107

use perennial::prelude::*;

use crate::shop::everyday::setting;
use crate::shop::{Order, mail};

#[workflow]
pub async fn setting_out_of_another_file(cx: &Cx, order: Order) -> Result<(), Error> {
    if setting("SHOP_SENDS_MAIL").is_ok() {
        mail(cx, order.id).await?;
    }
    Ok(())
}
