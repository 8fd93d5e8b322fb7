//! A `Default` that is not the same twice.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, charge};

struct Discount(u64);

impl Default for Discount {
    fn default() -> Self {
        Self(fastrand::u64(1..1_000_000))
    }
}

#[workflow]
pub async fn fastrand_in_a_default(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(charge(cx, order.cents() * 1_000 + Discount::default().0).await?)
}
