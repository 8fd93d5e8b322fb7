//! A generator whose seed the history records.

use perennial::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;

use crate::shop::{Order, ship};

#[workflow]
pub async fn seeded_by_the_history(cx: &Cx, mut order: Order) -> Result<(), Error> {
    let mut rng = StdRng::seed_from_u64(cx.random());
    order.lines.shuffle(&mut rng);
    for line in order.lines {
        ship(cx, line.sku).await?;
    }
    Ok(())
}
