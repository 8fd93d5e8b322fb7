//! Formatting of all kinds.

use std::fmt::Write as _;

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn formatting(cx: &Cx, order: Order) -> Result<(), Error> {
    let mut text = format!("{:>10}|{:<4}|{:08.3}\n", order.id, 7, 1.5);
    for line in &order.lines {
        writeln!(text, "{} x {:?} {:#x}", line.count, line.sku, line.cents)?;
    }
    let _ = write!(&mut text, "{:?}", order.lines[0]);
    mail(cx, text).await?;
    Ok(())
}
