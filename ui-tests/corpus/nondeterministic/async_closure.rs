//! What an `async` closure waits for cannot be checked.
//! Found by: macro D117

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn async_closure(cx: &Cx, order: Order) -> Result<(), Error> {
    let send = async |sku: String| ship(cx, sku).await;
    for line in order.lines {
        send(line.sku);
    }
    Ok(())
}
