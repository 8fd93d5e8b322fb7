//! H207 and H208.

use super::*;

// ANCHOR: marked
#[workflow]
pub async fn wrap(cx: &Cx, order: Order) -> Result<String, Error> {
    if cx.patched("gift-wrap") {
        pack(cx, order.clone()).await?;
    }
    Ok(ship(cx, order).await?)
}
// ANCHOR_END: marked

pub mod removed {
    use super::*;

    // ANCHOR: removed
    #[workflow]
    pub async fn wrap(cx: &Cx, order: Order) -> Result<String, Error> {
        pack(cx, order.clone()).await?;
        Ok(ship(cx, order).await?)
    }
    // ANCHOR_END: removed
}
