//! `Rc`, `RefCell`, `Cell` and `OnceCell`, which the run alone sees.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn shared_within_the_run(cx: &Cx, order: Order) -> Result<u32, Error> {
    let shipped = Rc::new(RefCell::new(Vec::new()));
    let (count, first) = (Cell::new(0), OnceCell::new());
    for line in &order.lines {
        let note = Rc::clone(&shipped);
        let parcel = ship(cx, line.sku.clone()).await?;
        first.get_or_init(|| parcel.clone());
        note.borrow_mut().push(parcel);
        count.set(count.get() + line.count);
    }
    ship(
        cx,
        format!("{} {}", Rc::strong_count(&shipped), shipped.borrow().len()),
    )
    .await?;
    Ok(count.get())
}
