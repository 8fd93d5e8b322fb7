//! Values are sorted by where they are.
//! Found by: perturbed run

use std::rc::Rc;

use perennial::prelude::*;

use crate::shop::{Line, Order, ship};

fn distance(one: &Rc<Line>, other: &Rc<Line>) -> usize {
    Rc::as_ptr(one).addr().abs_diff(Rc::as_ptr(other).addr()) + Rc::as_ptr(one).addr()
}

#[workflow]
pub async fn sorted_by_address(cx: &Cx, order: Order) -> Result<(), Error> {
    let lines: Vec<_> = order.lines.into_iter().map(Rc::new).collect();
    for pair in lines.windows(2) {
        ship(cx, format!("bay {}", distance(&pair[0], &pair[1]))).await?;
    }
    Ok(())
}
