//! Variables are called `rand`, `fs`, `env`, `thread` and `time`.

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn variables_of_that_name(cx: &Cx, order: Order) -> Result<String, Error> {
    let (rand, fs, env, thread) = (1, 2, 3, 4);
    let time = rand + fs;
    let println = |n: u64| n + env;
    let now = println(thread) + time;
    Ok(charge(cx, order.cents() + now).await?)
}
