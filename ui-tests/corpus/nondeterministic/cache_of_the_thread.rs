//! Prices that the thread has seen are not asked for again.
//! Found by: perturbed run

use std::cell::RefCell;
use std::collections::BTreeMap;

use perennial::prelude::*;

use crate::shop::{Order, charge, price};

thread_local! {
    static PRICES: RefCell<BTreeMap<String, u64>> = const { RefCell::new(BTreeMap::new()) };
}

fn known(sku: &str) -> Option<u64> {
    PRICES.with_borrow(|prices| prices.get(sku).copied())
}

fn remember(sku: String, cents: u64) {
    PRICES.with_borrow_mut(|prices| prices.insert(sku, cents));
}

#[workflow]
pub async fn cache_of_the_thread(cx: &Cx, order: Order) -> Result<String, Error> {
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
