//! A helper panics on some threads only.
//! Found by: perturbed run

use std::cell::Cell;

use perennial::prelude::*;

use crate::shop::{Order, charge};

thread_local! {
    static LEFT: Cell<u32> = const { Cell::new(20) };
}

fn spend() {
    let left = LEFT.get().checked_sub(1);
    LEFT.set(left.expect("there is something left"));
}

#[workflow]
pub async fn panics_by_chance(cx: &Cx, order: Order) -> Result<(), Error> {
    for line in order.lines {
        spend();
        charge(cx, line.cents).await?;
    }
    Ok(())
}
