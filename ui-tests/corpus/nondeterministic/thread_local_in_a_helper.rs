//! A counter of the thread, in a helper.
//! Found by: perturbed run

use std::cell::Cell;

use perennial::prelude::*;

use crate::shop::{Order, ship};

thread_local! {
    static SHIPPED: Cell<u32> = const { Cell::new(0) };
}

fn shipped() -> u32 {
    SHIPPED.set(SHIPPED.get() + 1);
    SHIPPED.get()
}

#[workflow]
pub async fn thread_local_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    for line in order.lines {
        ship(cx, format!("{}-{}", line.sku, shipped())).await?;
    }
    Ok(())
}
