//! Values of a map are looked up in the order of the lines.

use std::collections::HashMap;

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn map_look_up(cx: &Cx, order: Order) -> Result<String, Error> {
    let rates: HashMap<&str, u64> = HashMap::from([("sku-1", 3), ("sku-2", 5)]);
    let mut cents = 0;
    for line in &order.lines {
        cents += line.cents * rates.get(line.sku.as_str()).copied().unwrap_or(1);
    }
    Ok(charge(cx, cents + rates["sku-1"]).await?)
}
