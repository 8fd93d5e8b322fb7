//! Markers, each where its arms can be told; none needs an arm besides those of its versions.

#![deny(warnings, clippy::all)]

use perennial::prelude::*;

#[activity(pure)]
async fn check_for_fraud(_acx: &ActivityCx, cents: u64) -> Result<bool, Failure> {
    Ok(cents > 100)
}

#[activity(pure)]
async fn rounded(_acx: &ActivityCx, sum: u64) -> Result<u64, Failure> {
    Ok(sum)
}

// ANCHOR: patched
#[workflow(version = 2)]
async fn order(cx: &Cx, cents: u64) -> Result<bool, Error> {
    if cx.patched("fraud-check") {
        // Another condition goes inside.
        if cents > 100 {
            return Ok(check_for_fraud(cx, cents).await?);
        }
    }
    Ok(true)
}
// ANCHOR_END: patched

// ANCHOR: version
#[workflow]
async fn invoice(cx: &Cx, sum: u64) -> Result<u64, Error> {
    match cx.version("rounding", 0..=2) {
        0 => Ok(sum),
        1 => Ok(rounded(cx, sum).await?),
        2 => Ok(rounded(cx, sum + 1).await?),
    }
}
// ANCHOR_END: version

// ANCHOR: retired_arm
#[workflow(name = "later-invoice")]
async fn later_invoice(cx: &Cx, sum: u64) -> Result<u64, Error> {
    match cx.version("rounding", 1..=3) {
        1 => Ok(rounded(cx, sum).await?),
        2 | 3 => Ok(rounded(cx, sum + 1).await?),
    }
}
// ANCHOR_END: retired_arm

// ANCHOR: one_way
#[durable]
async fn is_fine(cx: &Cx, cents: u64) -> Result<bool, Error> {
    match cx.version("is-fine", 0..=2) {
        0 => Ok(true),
        1 => Ok(check_for_fraud(cx, cents).await?),
        2 => Ok(check_for_fraud(cx, cents + 1).await?),
    }
}

#[workflow]
async fn both(cx: &Cx, cents: u64) -> Result<bool, Error> {
    match cx.version("is-fine", 0..=2) {
        0 | 1 => is_fine(cx, cents).await,
        2 => Ok(check_for_fraud(cx, cents + 2).await?),
    }
}
// ANCHOR_END: one_way

#[durable]
fn plain(cx: &Cx) -> u32 {
    match cx.version("plain", 0..=1) {
        0 => 0,
        1 => 1,
    }
}

#[workflow(compare_inputs = false)]
async fn everywhere(cx: &Cx, list: Vec<u64>) -> Result<u64, Error> {
    let step = move |n: u64| async move {
        if !cx.patched("closure") {
            return Ok(n);
        }
        rounded(cx, n).await
    };
    let (a, b) = join!(step(1), async {
        match cx.version("arm", 0..=1) {
            0 => step(2).await,
            1 => rounded(cx, 2).await,
        }
    });
    let mut sum = a? + b?;
    for n in list {
        sum += match cx.version_each("item", 1..=2) {
            1 => n,
            2 => step(n).await?,
        };
    }
    let chosen = select! {
        _ = cx.sleep(seconds(1)) => if cx.patched("select") { 1 } else { 2 },
        n = async { match cx.version("select-arm", 0..=0) { 0 => step(3).await } } => n?,
    };
    let list = vec![if cx.patched_each("list") { 1 } else { 2 }, chosen];
    let task = cx.spawn(async move {
        match cx.version("task", 0..=1) {
            0 => step(4).await,
            1 => Ok(5),
        }
    });
    let never: u64 = match cx.version("ends", 0..=1) {
        0 => return Ok(sum),
        1 => task.await?,
    };
    Ok(sum + list.len() as u64 + u64::from(plain(cx)) + never)
}

fn main() {
    assert_eq!(order::GRAPH.version, Some(2));
    assert!(order::GRAPH.compare_inputs && !everywhere::GRAPH.compare_inputs);
    let markers = |graph: &perennial::Graph| {
        let ranges = graph.markers.iter();
        ranges
            .map(|marker| format!("{} {}..={}", marker.id, marker.lowest, marker.highest))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(markers(invoice::GRAPH), "rounding 0..=2");
    assert_eq!(markers(later_invoice::GRAPH), "rounding 1..=3");
    assert_eq!(markers(both::GRAPH), "is-fine 0..=2");
    assert_eq!(
        markers(everywhere::GRAPH),
        "arm 0..=1, closure 0..=1, ends 0..=1, item 1..=2, list 0..=1, plain 0..=1, select 0..=1, \
         select-arm 0..=0, task 0..=1"
    );
    let dead: Vec<_> = everywhere::GRAPH.markers.iter().filter(|marker| marker.is_dead()).collect();
    assert_eq!(dead.len(), 1);

    perennial::testing::test(|t| {
        t.allow(rounded);
        assert_eq!(t.start(everywhere, vec![1, 2]).result().unwrap(), 14);
    });
}
