//! A list is called `map`, and an own type has `keys` and `values`.

use perennial::prelude::*;

use crate::shop::{Order, ship};

struct Table(Vec<(String, u32)>);

impl Table {
    fn keys(&self) -> Vec<&String> {
        self.0.iter().map(|(key, _)| key).collect()
    }

    fn values(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|(_, value)| *value)
    }
}

#[workflow]
pub async fn vectors_named_like_maps(cx: &Cx, order: Order) -> Result<u32, Error> {
    let map: Vec<_> = order.lines.iter().map(|line| line.sku.clone()).collect();
    for sku in map.iter() {
        ship(cx, sku.clone()).await?;
    }
    let table = Table(map.into_iter().zip(1..).collect());
    for key in table.keys() {
        ship(cx, key.clone()).await?;
    }
    Ok(table.values().sum())
}
