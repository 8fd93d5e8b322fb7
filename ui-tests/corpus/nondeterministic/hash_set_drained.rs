//! A set is emptied into a list.
//! Found by: macro D111

use std::collections::HashSet;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn hash_set_drained(cx: &Cx, order: Order) -> Result<(), Error> {
    let mut skus: HashSet<String> = order.lines.into_iter().map(|line| line.sku).collect();
    let all: Vec<_> = skus.drain().collect();
    ship(cx, all.join(",")).await?;
    Ok(())
}
