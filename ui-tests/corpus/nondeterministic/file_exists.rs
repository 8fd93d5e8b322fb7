//! Whether a file is there decides.
//! Found by: macro D106

use std::path::Path;

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn file_exists(cx: &Cx, order: Order) -> Result<String, Error> {
    let sale = Path::new("/etc/shop/sale");
    let cents = if sale.exists() {
        order.cents() / 2
    } else {
        order.cents()
    };
    Ok(charge(cx, cents).await?)
}
