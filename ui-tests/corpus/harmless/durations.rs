//! Durations are computed, compared and waited for.

use std::time::Duration;

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn durations(cx: &Cx, order: Order) -> Result<u128, Error> {
    let mut wait = Duration::from_secs(1);
    for _ in 0..4 {
        cx.sleep(wait).await?;
        wait = (wait * 2).min(Duration::from_secs(5));
    }
    mail(cx, format!("{} waited {wait:?}", order.id)).await?;
    Ok(wait.as_millis())
}
