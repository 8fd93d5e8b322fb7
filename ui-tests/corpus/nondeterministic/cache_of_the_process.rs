//! Prices that the process has seen are not asked for again.
//! Found by: perturbed run

use std::collections::BTreeMap;
use std::sync::Mutex;

use perennial::prelude::*;

use crate::shop::{Order, charge, price};

static PRICES: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

fn known(sku: &str) -> Option<u64> {
    PRICES.lock().ok()?.get(sku).copied()
}

fn remember(sku: String, cents: u64) {
    if let Ok(mut prices) = PRICES.lock() {
        prices.insert(sku, cents);
    }
}

#[workflow]
pub async fn cache_of_the_process(cx: &Cx, order: Order) -> Result<String, Error> {
    let mut cents = 0;
    for line in order.lines {
        cents += match known(&line.sku) {
            Some(cents) => cents,
            None => {
                let cents = price(cx, line.sku.clone()).await?;
                remember(line.sku, cents);
                cents
            }
        };
    }
    Ok(charge(cx, cents).await?)
}
