//! Random numbers that the history records.

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

#[workflow]
pub async fn numbers_of_the_run(cx: &Cx, order: Order) -> Result<u64, Error> {
    let number: u64 = cx.random();
    if cx.random::<bool>() {
        mail(cx, number.to_string()).await?;
    }
    charge(cx, cx.random_range(1..100) + order.cents()).await?;
    Ok(number)
}
