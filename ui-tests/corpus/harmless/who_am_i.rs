//! The id of the run and of the namespace.

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn who_am_i(cx: &Cx, order: Order) -> Result<String, Error> {
    let key = format!("{}/{}/{}", cx.namespace(), cx.run_id(), order.id);
    Ok(ship(cx, key).await?)
}
