//! What is asked of a visible map is the same in any order.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn order_free_looks_at_a_map(cx: &Cx, order: Order) -> Result<usize, Error> {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for line in &order.lines {
        *counts.entry(line.sku.clone()).or_default() += line.count;
    }
    let many = counts.values().filter(|count| **count > 1).count();
    let most = counts.values().max().copied();
    if counts.keys().any(|sku| sku.ends_with('1')) && counts.values().all(|count| *count > 0) {
        mail(cx, format!("{many} {most:?}")).await?;
    }
    let sorted: BTreeMap<_, _> = counts.iter().collect();
    for (sku, count) in sorted {
        mail(cx, format!("{sku} {count}")).await?;
    }
    let mut skus: Vec<_> = counts.into_keys().collect();
    skus.sort();
    mail(cx, skus.join(" ")).await?;
    let seen: HashSet<u32> = order.lines.iter().map(|line| line.count).collect();
    let seen = seen.into_iter().collect::<BTreeSet<_>>();
    mail(cx, format!("{seen:?}")).await?;
    Ok(many)
}
