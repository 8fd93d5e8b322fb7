//! The keys of a map whose type is inferred.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn keys_of_an_inferred_map(cx: &Cx, order: Order) -> Result<(), Error> {
    let tags = order.tags;
    let all: Vec<_> = tags.keys().map(String::as_str).collect();
    mail(cx, all.join(", ")).await?;
    Ok(())
}
