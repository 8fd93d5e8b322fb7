//! A helper shuffles the lines.
//! Found by: perturbed run

use perennial::prelude::*;
use rand::seq::SliceRandom;

use crate::shop::{Line, Order, ship};

fn fair(mut lines: Vec<Line>) -> Vec<Line> {
    lines.shuffle(&mut rand::rng());
    lines
}

#[workflow]
pub async fn shuffled_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    for line in fair(order.lines) {
        ship(cx, line.sku).await?;
    }
    Ok(())
}
