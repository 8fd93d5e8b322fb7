//! Writes to the standard output through its handle.
//! Found by: macro D110

use std::io::{Write, stdout};

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn stdout_handle(cx: &Cx, order: Order) -> Result<String, Error> {
    stdout().write_all(order.id.as_bytes())?;
    Ok(charge(cx, order.cents()).await?)
}
