//! Events of `tracing`, which are muted while a history is replayed.

use perennial::prelude::*;
use tracing::{info, warn};

use crate::shop::{Order, charge};

#[workflow]
pub async fn tracing_events(cx: &Cx, order: Order) -> Result<String, Error> {
    info!(order = %order.id, "charging");
    let receipt = charge(cx, order.cents()).await?;
    if receipt.is_empty() {
        warn!(cents = order.cents(), "no receipt");
    }
    tracing::debug!("charged: {receipt}");
    Ok(receipt)
}
