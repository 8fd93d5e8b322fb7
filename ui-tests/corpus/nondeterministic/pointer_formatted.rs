//! An address is printed into a key.
//! Found by: macro D112

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn pointer_formatted(cx: &Cx, order: Order) -> Result<String, Error> {
    let key = format!("{:p}", order.id.as_ptr());
    Ok(ship(cx, key).await?)
}
