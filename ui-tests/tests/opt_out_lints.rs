//! An opt-out brings no lint with it, under any of clippy's groups: `cargo clippy --all-targets` is the
//! test. And what it holds is linted as before.

#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    missing_debug_implementations,
    missing_docs,
    single_use_lifetimes,
    trivial_casts,
    unit_bindings,
    unreachable_pub,
    unused_lifetimes,
    unused_qualifications,
    unused_results
)]
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::time::{Instant, SystemTime};

use perennial::prelude::*;

#[activity(pure)]
async fn ship(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

/// Waits for nothing.
#[durable]
fn taken(begun: Instant) -> u128 {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    begun.elapsed().as_millis()
}

/// Waits.
#[durable]
async fn shipped(cx: &Cx, stock: HashMap<String, u64>) -> Result<u64, Error> {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    let begun = Instant::now();
    let mut sum = 0;
    #[allow_nondeterminism(hash_order, reason = "a sum does not depend on it")]
    for n in stock.values() {
        sum += ship(cx, *n).await?;
    }
    #[allow_nondeterminism(hash_order, reason = "there is at most one")]
    sum += stock.into_values().next().unwrap_or_default() + 1;
    #[allow_nondeterminism(output, clock, reason = "for debugging")]
    println!("{sum} {:?}", SystemTime::now());
    cx.log(taken(begun));
    match sum {
        #[allow_nondeterminism(clock, reason = "only for a log line")]
        3 if begun.elapsed().as_secs() > 3 => cx.log("slow"),
        #[allow_nondeterminism(clock, reason = "only for a log line")]
        4 => cx.log(format_args!("{:?}", begun.elapsed())),
        _ => {}
    }
    #[allow_nondeterminism(processes, reason = "only for a log line")]
    if u64::from(std::process::id()) == sum {
        cx.log("what a chance");
    }
    let options = (
        #[allow_nondeterminism(env, reason = "the same everywhere")]
        std::env::var("SHOP").is_ok(),
        sum,
    );
    #[allow_nondeterminism(hash_order, reason = "there is nothing in it")]
    {
        let empty: HashMap<u8, u64> = HashMap::new();
        let first = empty.into_values().next();
        Ok(options.1 + first.unwrap_or_default())
    }
}

/// Works.
#[workflow]
async fn work(cx: &Cx) -> Result<u64, Error> {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    let (Ok(since) | Err(since)) = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_err(|error| error.duration());
    #[allow_nondeterminism(env, reason = "the same everywhere")]
    let Ok(shop) = std::env::var("SHOP") else {
        return Err(Error::new("no shop"));
    };
    cx.log(format_args!("{since:?} {shop}"));
    shipped(cx, HashMap::new()).await
}

#[test]
fn it_runs() {
    assert_eq!(work::NAME, "work");
}
