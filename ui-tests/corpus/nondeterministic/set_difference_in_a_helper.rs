//! The difference of two sets, in the order of the first.
//! Found by: perturbed run

use std::collections::HashSet;

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn missing(wanted: &[String], there: &[String]) -> Vec<String> {
    let there: HashSet<_> = there.iter().collect();
    let wanted: HashSet<_> = wanted.iter().collect();
    wanted
        .difference(&there)
        .map(|sku| (*sku).clone())
        .collect()
}

#[workflow]
pub async fn set_difference_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    let skus: Vec<_> = order.lines.into_iter().map(|line| line.sku).collect();
    for sku in missing(&skus, &skus[..2]) {
        ship(cx, sku).await?;
    }
    Ok(())
}
