//! RW-03: the order of a hash map decides the order of steps.

use std::collections::HashMap;

use perennial::prelude::*;
use perennial::testing::{TestFailure, failure_of};

#[activity(pure)]
async fn touch(_acx: &ActivityCx, key: String) -> Result<(), Failure> {
    let _ = key;
    Ok(())
}

/// Hides the map from the attribute.
fn keys(count: usize) -> Vec<String> {
    let map: HashMap<String, usize> = (0..count).map(|n| (format!("key-{n}"), n)).collect();
    map.into_keys().collect()
}

#[workflow]
async fn one_by_one(cx: &Cx, count: u64) -> Result<(), Error> {
    for key in keys(usize::try_from(count)?) {
        touch(cx, key).await?;
    }
    Ok(())
}

#[workflow]
async fn side_by_side(cx: &Cx, count: u64) -> Result<(), Error> {
    let keys = keys(usize::try_from(count)?);
    join_all(keys.into_iter().map(|key| touch(cx, key))).await;
    Ok(())
}

fn found(count: u64) -> TestFailure {
    failure_of(|t| {
        t.mock(touch, |_| Ok(()));
        let _ = t.start(one_by_one, count).result();
    })
    .expect("the order was the same each time")
}

#[test]
fn rw03_3_a_hidden_hash_map_is_found_with_both_sides_and_the_place() {
    let TestFailure::Diverged(diverged) = found(8) else {
        panic!("found otherwise");
    };
    let (first, second) = (
        diverged.first.clone().unwrap(),
        diverged.second.clone().unwrap(),
    );
    assert_eq!(
        (&*first.what, &*second.what),
        ("activity touch", "activity touch")
    );
    assert_ne!(first.value, second.value);
    assert_eq!(first.site, second.site);
    assert_eq!(&*first.site.unwrap().function, "one_by_one");
    assert_eq!(&*diverged.after, "event 1 (started)");
}

#[test]
fn rw03_3_it_is_found_even_where_a_map_has_two_entries_only() {
    for workflow in 0..2 {
        let failure = failure_of(|t| {
            t.mock(touch, |_| Ok(()));
            let _ = match workflow {
                0 => t.start(one_by_one, 2).result(),
                _ => t.start(side_by_side, 2).result(),
            };
        });
        assert!(
            matches!(failure, Some(TestFailure::Diverged(_))),
            "{failure:?}"
        );
    }
}
