//! A map by `default`, whose type is said.
//! Found by: macro D111

use std::collections::HashMap;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn default_map_of_a_type(cx: &Cx, order: Order) -> Result<(), Error> {
    let mut bays: HashMap<u64, String> = Default::default();
    for line in order.lines {
        bays.insert(line.cents, line.sku);
    }
    for (bay, sku) in bays.iter().take(3) {
        ship(cx, format!("{bay}: {sku}")).await?;
    }
    Ok(())
}
