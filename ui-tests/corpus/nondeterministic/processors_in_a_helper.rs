//! As many parcels as the machine has processors.
//! Found by: sandbox, changed world

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn parts() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[workflow]
pub async fn processors_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    for lines in order.lines.chunks(parts()) {
        let skus: Vec<_> = lines.iter().map(|line| line.sku.as_str()).collect();
        ship(cx, skus.join(" ")).await?;
    }
    Ok(())
}
