//! Helpers that are generic, borrow, and are methods.

use std::fmt::Display;

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

struct Till<'a> {
    order: &'a Order,
}

impl Till<'_> {
    #[durable]
    async fn charge(&self, cx: &Cx, percent: u64) -> Result<String, Error> {
        Ok(charge(cx, self.order.cents() * percent / 100).await?)
    }
}

#[durable]
async fn tell<T: Display, const N: usize>(cx: &Cx, all: [T; N]) -> Result<usize, Error> {
    for one in &all {
        mail(cx, one.to_string()).await?;
    }
    Ok(N)
}

#[workflow]
pub async fn generic_helpers(cx: &Cx, order: Order) -> Result<usize, Error> {
    let till = Till { order: &order };
    let receipt = till.charge(cx, 90).await?;
    tell(cx, [receipt, order.id.clone()]).await
}
