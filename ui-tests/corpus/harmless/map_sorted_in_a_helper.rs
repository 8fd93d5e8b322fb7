//! A helper gives the entries of a map in the order of their keys.

use std::collections::HashMap;

use perennial::prelude::*;

use crate::shop::{Order, mail};

fn sorted(tags: HashMap<String, u32>) -> Vec<(String, u32)> {
    let mut tags: Vec<_> = tags.into_iter().collect();
    tags.sort();
    tags
}

#[workflow]
pub async fn map_sorted_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    for (tag, weight) in sorted(order.tags) {
        mail(cx, format!("{tag}: {weight}")).await?;
    }
    Ok(())
}
