//! A helper waits a moment, and the whole thread with it.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn give_way() {
    std::thread::sleep(millis(1));
}

#[workflow]
pub async fn sleep_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    give_way();
    Ok(charge(cx, order.cents()).await?)
}
