//! One of two helpers, in one variable.

use perennial::prelude::*;

use crate::shop::{Order, charge, ship};

#[durable]
async fn at_once(cx: &Cx, order: &Order) -> Result<String, Error> {
    Ok(charge(cx, order.cents()).await?)
}

#[durable]
async fn later(cx: &Cx, order: &Order) -> Result<String, Error> {
    cx.sleep(days(30)).await?;
    Ok(ship(cx, order.id.clone()).await?)
}

#[workflow]
pub async fn boxed_and_chosen(cx: &Cx, order: Order) -> Result<String, Error> {
    let chosen: BoxDurable<'_, _> = if order.cents() > 1_000 {
        BoxDurable::new(later(cx, &order))
    } else {
        BoxDurable::new(at_once(cx, &order))
    };
    chosen.await
}
