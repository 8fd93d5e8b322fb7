//! Another program is run.
//! Found by: macro D109

use std::process::Command;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn command_output(cx: &Cx, order: Order) -> Result<String, Error> {
    let label = Command::new("hostname").output()?;
    Ok(ship(cx, format!("{}{:?}", order.id, label.stdout)).await?)
}
