//! The thread sleeps, and all other runs on it.
//! Found by: macro D105

use std::time::Duration;

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn thread_sleep(cx: &Cx, order: Order) -> Result<String, Error> {
    std::thread::sleep(Duration::from_millis(1));
    Ok(charge(cx, order.cents()).await?)
}
