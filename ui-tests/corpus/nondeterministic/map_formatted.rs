//! A map is printed, in its order.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn map_formatted(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("your tags: {:?}", order.tags)).await?;
    Ok(())
}
