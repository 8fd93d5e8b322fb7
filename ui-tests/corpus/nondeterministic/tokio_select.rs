//! The `select!` of another crate takes the arms in a random order.
//! Found by: macro D115

use perennial::prelude::Cx;
use perennial::{Error, hours, workflow};
use tokio::select;

use crate::shop::{Order, charge};

#[workflow]
pub async fn tokio_select(cx: &Cx, order: Order) -> Result<bool, Error> {
    Ok(select! {
        charged = charge(cx, order.cents()).into_future() => charged.is_ok(),
        _ = cx.sleep(hours(1)) => false,
    })
}
