//! The id of the process is a part of a key.
//! Found by: macro D109

use std::process;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn process_id(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(ship(cx, format!("{}-{}", process::id(), order.id)).await?)
}
