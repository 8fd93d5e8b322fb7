//! A helper prints.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn announce(id: &str) {
    eprintln!("charging for {id}");
}

#[workflow]
pub async fn print_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    announce(&order.id);
    Ok(charge(cx, order.cents()).await?)
}
