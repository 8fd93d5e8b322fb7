//! Functions and methods of ours are called `now`, `sleep`, `spawn`, `random` and `exit`.

use perennial::prelude::*;

use crate::shop::{Order, charge};

struct Dice;

impl Dice {
    fn random(&self) -> u64 {
        4
    }

    fn spawn(&self, n: u64) -> u64 {
        n
    }
}

fn now() -> u64 {
    1
}

fn sleep(n: u64) -> u64 {
    n
}

fn exit(n: u64) -> u64 {
    n
}

#[workflow]
pub async fn own_functions_of_that_name(cx: &Cx, order: Order) -> Result<String, Error> {
    let dice = Dice;
    let cents = now() + sleep(1) + exit(2) + dice.random() + dice.spawn(3);
    Ok(charge(cx, order.cents() + cents).await?)
}
