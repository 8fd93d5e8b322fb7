//! A hash map has another order in each process.

use std::collections::{HashMap, HashSet};

use perennial::prelude::*;

// ANCHOR: code
#[activity(pure)]
async fn touch(_acx: &ActivityCx, name: String) -> Result<(), Failure> {
    drop(name);
    Ok(())
}

#[workflow]
async fn order(cx: &Cx, set: HashSet<String>) -> Result<(), Error> {
    let map: HashMap<&str, u8> = [("a", 1), ("b", 2), ("c", 3)].into();
    for (name, _) in &map {
        touch(cx, (*name).to_owned()).await?;
    }
    for name in map.keys() {
        touch(cx, (*name).to_owned()).await?;
    }
    let names: Vec<String> = set.into_iter().collect();
    for name in names {
        touch(cx, name).await?;
    }
    Ok(())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
