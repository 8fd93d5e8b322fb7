//! A map of unknown type becomes a list.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn inferred_map_into_iter(cx: &Cx, order: Order) -> Result<(), Error> {
    let tags: Vec<_> = order.tags.into_iter().collect();
    mail(cx, format!("{tags:?}")).await?;
    Ok(())
}
