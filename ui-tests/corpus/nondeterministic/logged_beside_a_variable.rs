//! A line of the log changes a variable, and is not made by a replay.
//! Found by: perturbed run

use std::cell::Cell;
use std::fmt;

use perennial::prelude::*;

use crate::shop::{Order, charge};

struct Counted(Cell<u64>);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.set(self.0.get() + 1);
        write!(f, "line {}", self.0.get())
    }
}

#[workflow]
pub async fn logged_beside_a_variable(cx: &Cx, order: Order) -> Result<String, Error> {
    let lines = Counted(Cell::new(0));
    charge(cx, order.cents()).await?;
    cx.log(&lines);
    Ok(charge(cx, lines.0.get()).await?)
}
