//! The type stands in angle brackets.
//! Found by: macro D101

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn clock_of_a_qualified_type(cx: &Cx, order: Order) -> Result<(), Error> {
    let now = <std::time::SystemTime>::now();
    mail(cx, format!("{} {now:?}", order.id)).await?;
    Ok(())
}
