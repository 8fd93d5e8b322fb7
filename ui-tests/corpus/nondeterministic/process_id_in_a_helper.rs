//! A helper puts the id of the process into a key.
//! Found by: sandbox, changed world

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn key(id: &str) -> String {
    format!("{id}-{}", std::process::id())
}

#[workflow]
pub async fn process_id_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(ship(cx, key(&order.id)).await?)
}
