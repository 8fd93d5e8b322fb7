//! Errors of activities, of parsing and of ours, by `?` and by hand.

use std::fmt;

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

#[derive(Debug)]
struct Empty;

impl fmt::Display for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the order is empty")
    }
}

impl std::error::Error for Empty {}

fn first_number(order: &Order) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    let line = order.lines.first().ok_or(Empty)?;
    Ok(line.sku.trim_start_matches("sku-").parse()?)
}

#[workflow]
pub async fn errors_converted(cx: &Cx, order: Order) -> Result<u32, Error> {
    let number = first_number(&order).map_err(|error| Error::new(error.to_string()))?;
    match charge(cx, u64::from(number)).await {
        Ok(_) => Ok(number),
        Err(ActivityError::TimedOut | ActivityError::Cancelled) => Ok(0),
        Err(error) => {
            mail(cx, error.to_string()).await?;
            Err(error.into())
        }
    }
}
