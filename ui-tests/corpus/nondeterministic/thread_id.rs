//! The thread's id is a part of a key.
//! Found by: macro D112

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn thread_id(cx: &Cx, order: Order) -> Result<String, Error> {
    let worker = std::thread::current().id();
    Ok(ship(cx, format!("{worker:?}-{}", order.id)).await?)
}
