//! Threads work beside the workflow.
//! Found by: macro D103

use std::thread;

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn thread_spawned(cx: &Cx, order: Order) -> Result<String, Error> {
    let lines = order.lines.clone();
    let sum = thread::spawn(move || lines.iter().map(|line| line.cents).sum());
    Ok(charge(cx, sum.join().unwrap_or(0)).await?)
}
