//! A macro of ours waits for something foreign in its own definition.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, charge};

macro_rules! politely {
    ($value:expr) => {{
        tokio::task::yield_now().await;
        $value
    }};
}

#[workflow]
pub async fn await_inside_a_macro(cx: &Cx, order: Order) -> Result<String, Error> {
    let cents = politely!(order.cents());
    Ok(charge(cx, cents).await?)
}
