//! A line is printed, and again by each replay.
//! Found by: macro D110

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn println_in_the_body(cx: &Cx, order: Order) -> Result<String, Error> {
    println!("charging for {}", order.id);
    Ok(charge(cx, order.cents()).await?)
}
