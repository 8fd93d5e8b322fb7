//! A helper runs another program.
//! Found by: sandbox, strict

use std::process::Command;

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn kind_of_machine() -> String {
    let output = Command::new("uname").arg("-s").output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into(),
    )
}

#[workflow]
pub async fn program_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(ship(cx, format!("{} from {}", order.id, kind_of_machine())).await?)
}
