//! An address is used as a number.
//! Found by: macro D112

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn pointer_as_a_number(cx: &Cx, order: Order) -> Result<String, Error> {
    let boxed = Box::new(order.seed);
    let address = &raw const *boxed as usize as u64;
    Ok(charge(cx, address).await?)
}
