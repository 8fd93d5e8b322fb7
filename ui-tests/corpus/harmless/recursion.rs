//! A helper that calls itself.

use perennial::prelude::*;

use crate::shop::{Line, Order, ship};

#[durable]
async fn in_halves(cx: &Cx, lines: &[Line]) -> Result<usize, Error> {
    match lines {
        [] => Ok(0),
        [line] => {
            ship(cx, line.sku.clone()).await?;
            Ok(1)
        }
        lines => {
            let (left, right) = lines.split_at(lines.len() / 2);
            Ok(Box::pin(in_halves(cx, left)).await? + Box::pin(in_halves(cx, right)).await?)
        }
    }
}

#[workflow]
pub async fn recursion(cx: &Cx, order: Order) -> Result<usize, Error> {
    in_halves(cx, &order.lines).await
}
