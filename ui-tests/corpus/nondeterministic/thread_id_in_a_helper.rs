//! A helper names the thread.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn worker() -> String {
    format!("{:?}", std::thread::current().id())
}

#[workflow]
pub async fn thread_id_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(ship(cx, format!("{} by {}", order.id, worker())).await?)
}
