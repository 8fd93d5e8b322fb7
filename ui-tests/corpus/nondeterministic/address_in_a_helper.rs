//! The address of a value on the heap is its key.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn handle<T>(value: &T) -> usize {
    std::ptr::from_ref(value).addr()
}

#[workflow]
pub async fn address_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    for line in &order.lines {
        ship(cx, format!("{:x}", handle(line))).await?;
    }
    Ok(())
}
