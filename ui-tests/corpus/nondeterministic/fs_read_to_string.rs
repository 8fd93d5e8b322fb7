//! A file says how much is charged.
//! Found by: macro D106

use std::fs;

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn fs_read_to_string(cx: &Cx, order: Order) -> Result<String, Error> {
    let rate: u64 = fs::read_to_string("/etc/shop/rate")?.trim().parse()?;
    Ok(charge(cx, order.cents() * rate / 100).await?)
}
