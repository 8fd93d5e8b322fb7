//! What makes a recorded value changes a variable, and is not called by a replay.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn recorded_beside_a_variable(cx: &Cx, order: Order) -> Result<String, Error> {
    let mut tries = 0;
    let lucky = cx.record("lucky", || {
        tries += 1;
        7_u64
    });
    Ok(charge(cx, order.cents() + lucky * tries).await?)
}
