//! A sample of the runs is traced; a random number decides which, with an opt-out.

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn opt_out_of_a_random_sample(cx: &Cx, order: Order) -> Result<String, Error> {
    #[allow_nondeterminism(random, reason = "only decides what is traced")]
    let traced = rand::random_ratio(1, 100);
    if traced {
        tracing::trace!("charging for {}", order.id);
    }
    Ok(charge(cx, order.cents()).await?)
}
