//! A map is an input of an activity and a result: its written form has one order.

use std::collections::HashMap;

use perennial::prelude::*;
use perennial::testing::TestRun;

use crate::shop::Order;

pub fn allow(t: &mut TestRun) {
    t.allow(label);
}

#[activity(pure)]
async fn label(_acx: &ActivityCx, counts: HashMap<String, u32>) -> Result<usize, Failure> {
    Ok(counts.len())
}

#[workflow]
pub async fn map_as_an_input(cx: &Cx, order: Order) -> Result<HashMap<String, u32>, Error> {
    let counts: HashMap<String, u32> = order
        .lines
        .iter()
        .map(|line| (line.sku.clone(), line.count))
        .collect();
    label(cx, counts.clone()).await?;
    Ok(counts)
}
