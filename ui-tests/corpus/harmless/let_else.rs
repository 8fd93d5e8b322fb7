//! `let else`, `if let` chains, labelled loops and early returns.

use perennial::prelude::*;

use crate::shop::{Order, mail, price};

#[workflow]
pub async fn let_else(cx: &Cx, order: Order) -> Result<u64, Error> {
    let Some(first) = order.lines.first() else {
        return Ok(0);
    };
    let dearest = 'search: {
        for line in &order.lines {
            if let cents = price(cx, line.sku.clone()).await?
                && cents > 600
            {
                break 'search Some(cents);
            }
        }
        None
    };
    let Ok(cents) = price(cx, first.sku.clone()).await else {
        mail(cx, "no price".to_owned()).await?;
        return Ok(0);
    };
    Ok(dearest.unwrap_or(cents))
}
