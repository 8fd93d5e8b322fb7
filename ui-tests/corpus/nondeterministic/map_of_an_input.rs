//! A field of the input is a map, which its type says elsewhere.
//! Found by: clippy D111

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn map_of_an_input(cx: &Cx, order: Order) -> Result<(), Error> {
    for tag in &order.tags {
        mail(cx, format!("{tag:?}")).await?;
    }
    Ok(())
}
