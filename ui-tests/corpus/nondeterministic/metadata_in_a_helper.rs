//! A helper asks whether a file is there.
//! Found by: sandbox, strict

use std::path::Path;

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn is_sale() -> bool {
    Path::new("/etc/shop/sale").exists()
}

#[workflow]
pub async fn metadata_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    let cents = if is_sale() {
        order.cents() / 2
    } else {
        order.cents()
    };
    Ok(charge(cx, cents).await?)
}
