//! A map of unknown order becomes one that is sorted.

use std::collections::BTreeMap;

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn map_collected_into_a_tree(cx: &Cx, order: Order) -> Result<(), Error> {
    let tags: BTreeMap<_, _> = order.tags.into_iter().collect();
    for (tag, weight) in &tags {
        mail(cx, format!("{tag}: {weight}")).await?;
    }
    Ok(())
}
