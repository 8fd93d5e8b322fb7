//! A helper asks somebody at the keyboard.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn confirmed() -> bool {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    read.is_ok() && line.trim() == "yes"
}

#[workflow]
pub async fn standard_input_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    let cents = if confirmed() { order.cents() } else { 0 };
    Ok(charge(cx, cents).await?)
}
