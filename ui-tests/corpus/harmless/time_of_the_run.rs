//! Arithmetic with the run's own time.

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn time_of_the_run(cx: &Cx, order: Order) -> Result<u64, Error> {
    let started = cx.now();
    cx.sleep(hours(3)).await?;
    let waited = cx.now().since(started);
    if waited >= hours(3) {
        mail(
            cx,
            format!(
                "{}: {} of {}",
                order.id,
                waited.as_secs() / 3_600,
                cx.now() - hours(1)
            ),
        )
        .await?;
    }
    Ok(cx.now().as_millis())
}
