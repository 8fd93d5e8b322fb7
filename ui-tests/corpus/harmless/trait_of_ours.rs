//! Traits of ours, as objects and as bounds.

use perennial::prelude::*;

use crate::shop::{Order, charge};

trait Discount {
    fn of(&self, cents: u64) -> u64;
}

struct Percent(u64);

impl Discount for Percent {
    fn of(&self, cents: u64) -> u64 {
        cents * self.0 / 100
    }
}

impl<F: Fn(u64) -> u64> Discount for F {
    fn of(&self, cents: u64) -> u64 {
        self(cents)
    }
}

#[workflow]
pub async fn trait_of_ours(cx: &Cx, order: Order) -> Result<String, Error> {
    let discounts: Vec<Box<dyn Discount>> =
        vec![Box::new(Percent(3)), Box::new(|cents| cents / 50)];
    let cents = discounts
        .iter()
        .fold(order.cents(), |cents, discount| cents - discount.of(cents));
    Ok(charge(cx, cents).await?)
}
