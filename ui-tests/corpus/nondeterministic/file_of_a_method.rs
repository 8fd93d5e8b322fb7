//! A method gives a path, and whether there is a file decides.
//! Found by: clippy D106

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn file_of_a_method(cx: &Cx, order: Order) -> Result<(), Error> {
    if !order.invoice().is_file() {
        mail(cx, format!("{} has no invoice", order.id)).await?;
    }
    Ok(())
}
