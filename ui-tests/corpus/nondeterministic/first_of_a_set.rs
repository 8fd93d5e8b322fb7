//! Any one of a set is taken.
//! Found by: perturbed run

use std::collections::HashSet;

use perennial::prelude::*;

use crate::shop::{Line, Order, ship};

fn any(lines: &[Line]) -> Option<String> {
    let skus: HashSet<_> = lines.iter().take(2).map(|line| &line.sku).collect();
    skus.into_iter().next().cloned()
}

#[workflow]
pub async fn first_of_a_set(cx: &Cx, order: Order) -> Result<(), Error> {
    if let Some(sku) = any(&order.lines) {
        ship(cx, sku).await?;
    }
    Ok(())
}
