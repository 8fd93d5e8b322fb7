//! Iterators, slices and sorting of lists.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn iterators_and_sorting(cx: &Cx, mut order: Order) -> Result<usize, Error> {
    order.lines.sort_by_key(|line| Reverse(line.cents));
    order.lines.dedup_by_key(|line| line.count);
    order.lines.retain(|line| line.cents > 100);
    let mut heap: BinaryHeap<_> = order
        .lines
        .iter()
        .map(|line| (line.count, &line.sku))
        .collect();
    while let Some((count, sku)) = heap.pop() {
        ship(cx, format!("{count} {sku}")).await?;
    }
    let mut queue: VecDeque<_> = order.lines.drain(..).collect();
    queue.rotate_left(1);
    for (n, pair) in queue.make_contiguous().windows(2).enumerate() {
        ship(cx, format!("{n}: {}", pair[0].sku)).await?;
    }
    let values = [3, 1, 2];
    for value in values.iter().zip(values.iter().skip(1)) {
        ship(cx, format!("{value:?}")).await?;
    }
    Ok(queue.len())
}
