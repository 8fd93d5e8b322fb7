//! Nothing but the result is another one.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn ticket() -> u64 {
    rand::random()
}

#[workflow]
pub async fn returned_by_the_workflow(cx: &Cx, order: Order) -> Result<u64, Error> {
    charge(cx, order.cents()).await?;
    Ok(ticket())
}
