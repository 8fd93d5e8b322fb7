//! A set filters what comes twice, in the order of a list.

use std::collections::HashSet;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn set_of_what_was_seen(cx: &Cx, order: Order) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for line in order.lines {
        if seen.insert(line.count) {
            ship(cx, line.sku).await?;
        }
    }
    Ok(())
}
