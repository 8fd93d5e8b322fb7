//! Where an opt-out can stand, and that nothing changes by it.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use std::collections::HashMap;
use std::time::{Instant, SystemTime};

use perennial::__private::is_allowed;
use perennial::prelude::*;

#[activity(pure)]
async fn ship(_acx: &ActivityCx, n: u32) -> Result<u32, Failure> {
    Ok(n)
}

struct Reading {
    at: SystemTime,
    boxed: Box<dyn Fn() -> SystemTime + Send>,
}

#[durable]
fn elapsed(start: Instant) -> u128 {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    start.elapsed().as_millis()
}

#[durable]
async fn waits_inside(cx: &Cx) -> Result<u32, Error> {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    {
        let start = Instant::now();
        ship(cx, 1).await?;
        cx.log(format_args!("{:?}", start.elapsed()));
    }
    #[allow_nondeterminism(clock, output, reason = "only printed")]
    let shipped = {
        println!("{:?}", SystemTime::now());
        ship(cx, 2).await
    };
    Ok(shipped?)
}

#[workflow]
async fn work(cx: &Cx, map: HashMap<String, u32>) -> Result<u32, Error> {
    // A statement, whose variables stay.
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    let start = Instant::now();
    #[allow_nondeterminism(env, reason = "only for a log line")]
    let Ok(_home) = std::env::var("PATH") else {
        return Ok(0);
    };
    // What it borrows from lives as long as it would.
    #[allow_nondeterminism(env, reason = "only for a log line")]
    let text: &String = &std::env::var("PATH").unwrap_or_default();

    // A loop, a macro, an assignment.
    let mut sum = 0;
    #[allow_nondeterminism(hash_order, reason = "a sum does not depend on it")]
    for n in map.values() {
        sum += n;
    }
    #[allow_nondeterminism(output, reason = "for debugging")]
    println!("{sum} {text}");
    #[allow_nondeterminism(hash_order, reason = "a sum does not depend on it")]
    sum += map.values().sum::<u32>() + map.values().next().unwrap_or(&0);
    #[allow_nondeterminism(processes, reason = "only for a log line")]
    if std::process::id() == 0 {
        sum += 1;
    }
    #[allow_nondeterminism(statics, reason = "never read")]
    static LAST: std::sync::Mutex<u32> = std::sync::Mutex::new(0);

    // An expression, whose type is expected as it would be.
    let reading = Reading {
        #[allow_nondeterminism(clock, reason = "only for a log line")]
        at: SystemTime::now(),
        boxed: #[allow_nondeterminism(clock, reason = "only for a log line")]
        Box::new(|| SystemTime::now()),
    };
    cx.log(format_args!(
        "{:?}",
        #[allow_nondeterminism(clock, reason = "only for a log line")]
        start.elapsed()
    ));
    drop((reading.at, reading.boxed));

    // The arm of a `match`, its guard included.
    match sum {
        #[allow_nondeterminism(clock, reason = "only for a log line")]
        n if n > 1 && start.elapsed().as_secs() > 1 => cx.log(format_args!("{:?}", start.elapsed())),
        _ => {}
    }
    let closure = |n: u32| {
        #[allow_nondeterminism(clock, reason = "only for a log line")]
        let now = SystemTime::now();
        cx.log(format_args!("{n} {now:?}"));
        n
    };
    cx.log(elapsed(start));
    waits_inside(cx).await?;

    #[allow_nondeterminism(hash_order, reason = "there is at most one")]
    map.into_values().next().map_or(Ok(closure(sum)), Ok)
}

/// What the opt-out allows may happen later, and is inside of it then.
#[durable]
fn later(texts: &[&str]) -> Vec<bool> {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    let ask = |limit: SystemTime| (limit < SystemTime::now(), is_allowed()).1;
    let returned = #[allow_nondeterminism(processes, reason = "only for a log line")]
    || -> bool { std::process::id() > 0 && is_allowed() };
    // The type of a parameter follows from where the closure stands.
    let each = texts.iter().map(
        #[allow_nondeterminism(processes, reason = "only for a log line")]
        |text| text.len() > std::process::id() as usize || is_allowed(),
    );
    each.chain([ask(SystemTime::UNIX_EPOCH), returned(), is_allowed()])
        .collect()
}

#[durable]
fn length(text: &str) -> usize {
    text.len()
}

#[durable]
fn borrowed() -> usize {
    // What is borrowed lives as long as the call.
    length(
        #[allow_nondeterminism(env, reason = "only for a log line")]
        &std::env::var("PATH").unwrap_or_default(),
    )
}

#[workflow]
async fn in_a_task(cx: &Cx) -> Result<u32, Error> {
    #[allow_nondeterminism(clock, reason = "only for a log line")]
    let task = cx.spawn(async move {
        let start = Instant::now();
        let shipped = ship(cx, 1).await?;
        cx.log(format_args!("{:?}", start.elapsed()));
        Ok::<_, Error>(shipped)
    });
    task.await
}

fn main() {
    assert_eq!(later(&["a", "b"]), [true, true, true, true, false]);
    assert_eq!(borrowed(), std::env::var("PATH").unwrap_or_default().len());
}
