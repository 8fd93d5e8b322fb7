//! A generator whose seed is an input draws the same numbers again.

use perennial::prelude::*;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::shop::{Order, charge};

#[workflow]
pub async fn seeded_generator(cx: &Cx, order: Order) -> Result<String, Error> {
    let mut rng = StdRng::seed_from_u64(order.seed);
    let discount = rng.random_range(0..100);
    Ok(charge(cx, order.cents() - discount).await?)
}
