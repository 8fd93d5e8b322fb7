//! A random number is the limit of the attempts.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn patience() -> u32 {
    rand::random_range(1..1_000_000)
}

#[workflow]
pub async fn deadline_of_an_attempt_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    let retry = Retry::new().attempts(patience());
    Ok(charge(cx, order.cents()).retry(retry).await?)
}
