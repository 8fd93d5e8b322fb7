//! Other collections have the same order each time.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use perennial::prelude::*;

// ANCHOR: code
#[activity(pure)]
async fn touch(_acx: &ActivityCx, name: String) -> Result<(), Failure> {
    drop(name);
    Ok(())
}

#[workflow]
async fn order(cx: &Cx, set: HashSet<String>) -> Result<(), Error> {
    let map: BTreeMap<&str, u8> = [("a", 1), ("b", 2), ("c", 3)].into();
    for (name, _) in &map {
        touch(cx, (*name).to_owned()).await?;
    }
    // A list that the next statement sorts, or another collection.
    let mut names: Vec<String> = set.iter().cloned().collect();
    names.sort();
    for name in names.into_iter().chain(["d".to_owned()]) {
        touch(cx, name).await?;
    }
    for name in set.into_iter().collect::<BTreeSet<_>>() {
        touch(cx, name).await?;
    }
    // Looking up and counting do not depend on the order.
    let mut stock: HashMap<&str, u8> = HashMap::new();
    stock.insert("a", 1);
    *stock.entry("b").or_insert(0) += 1;
    if stock.contains_key("a") && stock.values().any(|n| *n > 1) {
        touch(cx, stock.len().to_string()).await?;
    }
    Ok(())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
