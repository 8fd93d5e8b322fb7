//! A generator with a seed goes through helpers that take any generator.

use perennial::prelude::*;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng, RngExt as _, SeedableRng as _};

use crate::shop::{Line, Order, ship};

fn drawn<'a>(lines: &'a [Line], rng: &mut impl Rng) -> Option<&'a Line> {
    lines.choose(rng)
}

fn eyes(rng: &mut dyn Rng) -> u32 {
    rng.random_range(1..=6)
}

#[workflow]
pub async fn generators_that_are_handed_on(cx: &Cx, order: Order) -> Result<(), Error> {
    let mut rng = StdRng::from_seed([7; 32]);
    while eyes(&mut rng) < 6 {
        if let Some(line) = drawn(&order.lines, &mut rng) {
            ship(cx, line.sku.clone()).await?;
        }
    }
    Ok(())
}
