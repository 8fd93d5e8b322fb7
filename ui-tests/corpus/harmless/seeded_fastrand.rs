//! `fastrand` with a seed.

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn seeded_fastrand(cx: &Cx, order: Order) -> Result<String, Error> {
    let mut rng = fastrand::Rng::with_seed(order.seed);
    Ok(charge(cx, order.cents() - rng.u64(0..100)).await?)
}
