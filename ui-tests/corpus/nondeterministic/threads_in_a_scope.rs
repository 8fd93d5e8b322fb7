//! Threads of a scope race for the first place of a list.
//! Found by: macro D103

use std::sync::Mutex;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn threads_in_a_scope(cx: &Cx, order: Order) -> Result<(), Error> {
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for line in &order.lines {
            scope.spawn(|| {
                if let Ok(mut found) = found.lock() {
                    found.push(line.sku.clone());
                }
            });
        }
    });
    for sku in found.into_inner().unwrap_or_default() {
        ship(cx, sku).await?;
    }
    Ok(())
}
