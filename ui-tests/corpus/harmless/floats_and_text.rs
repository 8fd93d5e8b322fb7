//! Floats, characters, and texts that are owned or not.

use std::borrow::Cow;

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

fn polite(name: &str) -> Cow<'_, str> {
    if name.contains("Dr") {
        name.into()
    } else {
        format!("Dear {name}").into()
    }
}

#[workflow]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]
pub async fn floats_and_text(cx: &Cx, order: Order) -> Result<f64, Error> {
    let cents = (order.cents() as f64 * 0.81)
        .sqrt()
        .mul_add(100.0, 0.5)
        .floor();
    charge(cx, cents as u64).await?;
    let shouted: String = polite(&order.customer)
        .chars()
        .rev()
        .filter(|c| c.is_alphabetic())
        .collect();
    mail(cx, shouted.to_uppercase()).await?;
    Ok(cents)
}
