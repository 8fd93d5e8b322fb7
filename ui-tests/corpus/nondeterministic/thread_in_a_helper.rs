//! A helper starts a thread and waits for it.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Line, Order, charge};

fn sum(lines: Vec<Line>) -> u64 {
    let counted = std::thread::spawn(move || lines.iter().map(|line| line.cents).sum());
    counted.join().unwrap_or(0)
}

#[workflow]
pub async fn thread_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(charge(cx, sum(order.lines)).await?)
}
