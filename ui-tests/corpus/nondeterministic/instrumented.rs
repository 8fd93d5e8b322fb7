//! Each replay would report the span again.
//! Found by: macro D119

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
#[tracing::instrument]
pub async fn instrumented(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(charge(cx, order.cents()).await?)
}
