//! The test kit with the sandbox: what decides by a clock or by random bytes fails a test, and what only
//! looks does not.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used)]

use perennial_sandbox as _;

use std::collections::HashMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use perennial::prelude::*;
use perennial::testing::{Changed, TestFailure, TestRun, failure_of};

/// Not in the body of a workflow, where the attribute would see it.
mod hidden {
    use super::*;

    pub(super) fn day() -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        since.as_secs() / 86_400
    }

    pub(super) fn number() -> u64 {
        rand::random_range(0..1_000_000)
    }

    pub(super) fn id() -> String {
        uuid::Uuid::new_v4().to_string()
    }

    pub(super) fn keys() -> Vec<String> {
        let map: HashMap<String, u8> = ["a", "b"].map(|key| (key.to_owned(), 0)).into();
        map.into_keys().collect()
    }

    pub(super) fn looked_up() -> u8 {
        let map: HashMap<String, u8> = ["a", "b"].map(|key| (key.to_owned(), 1)).into();
        map["a"] + map["b"]
    }

    pub(super) fn milliseconds(since: Instant) -> u128 {
        since.elapsed().as_millis()
    }

    pub(super) fn now() -> Instant {
        Instant::now()
    }
}

#[activity(pure)]
async fn touch(_acx: &ActivityCx, what: String) -> Result<(), Failure> {
    drop(what);
    Ok(())
}

#[workflow]
async fn by_the_day(cx: &Cx) -> Result<(), Error> {
    touch(cx, format!("day {}", hidden::day())).await?;
    Ok(())
}

#[workflow]
async fn for_some_days(cx: &Cx) -> Result<(), Error> {
    cx.sleep(days(hidden::day() % 7)).await?;
    Ok(())
}

#[workflow]
async fn slowly(cx: &Cx) -> Result<(), Error> {
    let began = hidden::now();
    cx.sleep(seconds(1)).await?;
    if hidden::milliseconds(began) > 30_000 {
        touch(cx, "slow".into()).await?;
    }
    Ok(())
}

#[workflow]
async fn by_number(cx: &Cx) -> Result<u64, Error> {
    cx.sleep(seconds(1)).await?;
    Ok(hidden::number())
}

#[workflow]
async fn by_id(cx: &Cx) -> Result<(), Error> {
    touch(cx, hidden::id()).await?;
    Ok(())
}

#[workflow]
async fn by_order(cx: &Cx) -> Result<(), Error> {
    for key in hidden::keys() {
        touch(cx, key).await?;
    }
    Ok(())
}

#[workflow]
async fn only_looks(cx: &Cx) -> Result<u8, Error> {
    cx.log(format_args!(
        "day {}, number {}",
        hidden::day(),
        hidden::number()
    ));
    touch(cx, "a".into()).await?;
    cx.sleep(days(1)).await?;
    Ok(hidden::looked_up())
}

/// The rules of what the failure names as the likely cause. The place is in this file.
fn found(run: impl FnOnce(&mut TestRun)) -> Vec<&'static str> {
    let failure = failure_of(|t| {
        t.mock(touch, |_| Ok(())).optional();
        run(t);
    });
    match failure {
        Some(TestFailure::Diverged(diverged)) => {
            assert_eq!(diverged.changed, Changed::All);
            for touched in &diverged.touched {
                assert!(touched.place.contains("tests/kit.rs"), "{touched:?}");
            }
            let mut rules: Vec<_> = diverged.touched.iter().map(|t| t.rule).collect();
            rules.dedup();
            rules
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_weekday_that_decides_an_input_is_found() {
    assert_eq!(found(|t| _ = t.start(by_the_day, ()).result()), ["D101"]);
}

#[test]
fn a_weekday_that_decides_a_length_is_found() {
    assert_eq!(found(|t| _ = t.start(for_some_days, ()).result()), ["D101"]);
}

#[test]
fn time_that_has_passed_and_decides_a_branch_is_found() {
    assert_eq!(found(|t| _ = t.start(slowly, ()).result()), ["D101"]);
}

#[test]
fn random_numbers_and_ids_that_decide_are_found() {
    assert_eq!(found(|t| _ = t.start(by_number, ()).result()), ["D102"]);
    assert_eq!(found(|t| _ = t.start(by_id, ()).result()), ["D102"]);
}

#[test]
fn the_order_of_a_map_of_two_entries_is_found() {
    assert_eq!(found(|t| _ = t.start(by_order, ()).result()), [""; 0]);
}

#[perennial::test]
fn what_only_looks_passes(t: &mut TestRun) {
    t.mock(touch, |_| Ok(()));
    assert_eq!(t.start(only_looks, ()).result().unwrap(), 2);
    assert_eq!(t.report().changed, Changed::All);
}

#[test]
fn what_only_looks_fails_a_strict_test() {
    let failure = failure_of(|t| {
        t.strict();
        t.mock(touch, |_| Ok(()));
        t.start(only_looks, ());
    });
    let Some(TestFailure::Touched(touched)) = failure else {
        panic!("{failure:?}");
    };
    assert_eq!(touched.event, 1);
    assert!(
        touched.touched[0].place.contains("tests/kit.rs"),
        "{touched:?}"
    );
}

#[workflow]
async fn asks_for_nothing(cx: &Cx) -> Result<u8, Error> {
    touch(cx, cx.uuid().to_string()).await?;
    cx.log(cx.now());
    cx.record("day", hidden::day);
    cx.sleep(days(1)).await?;
    Ok(hidden::looked_up())
}

#[perennial::test(strict)]
fn what_asks_for_nothing_passes_a_strict_test(t: &mut TestRun) {
    t.mock(touch, |_| Ok(()));
    assert_eq!(t.start(asks_for_nothing, ()).result().unwrap(), 2);
    assert!(t.report().strict);
}

#[activity(pure)]
async fn tick(_acx: &ActivityCx) -> Result<(), Failure> {
    // The first tick is at once, and wants a runtime all the same.
    tokio::time::interval(std::time::Duration::from_secs(1))
        .tick()
        .await;
    Ok(())
}

#[activity(pure)]
async fn spawn(_acx: &ActivityCx) -> Result<u8, Failure> {
    Ok(tokio::spawn(async { 1 }).await?)
}

#[workflow]
async fn ticks(cx: &Cx) -> Result<(), Error> {
    Ok(tick(cx).await?)
}

#[workflow]
async fn spawns(cx: &Cx) -> Result<u8, Error> {
    Ok(spawn(cx).await?)
}

#[test]
fn an_activity_that_needs_tokio_and_has_none_says_so_at_once() {
    let failures = [
        failure_of(|t| {
            t.allow(tick);
            t.start(ticks, ());
        }),
        failure_of(|t| {
            t.allow(spawn);
            t.start(spawns, ());
        }),
    ];
    for failure in failures {
        assert!(
            matches!(failure, Some(TestFailure::NoRuntime { .. })),
            "{failure:?}"
        );
    }
    perennial::testing::test(|t| {
        let tokio = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        t.block_on_with(move |work| tokio.block_on(work));
        t.allow(tick);
        t.allow(spawn);
        t.start(ticks, ()).result().unwrap();
        assert_eq!(t.start(spawns, ()).result().unwrap(), 1);
    });
}

/// Each of these is the same on most days.
mod on_some_days {
    use chrono::{Datelike as _, Timelike as _, Utc, Weekday};

    pub(super) fn monday() -> bool {
        Utc::now().weekday() == Weekday::Mon
    }

    pub(super) fn weekend() -> bool {
        Utc::now().weekday().num_days_from_monday() > 4
    }

    pub(super) fn december() -> bool {
        Utc::now().month() == 12
    }

    pub(super) fn first_of_a_month() -> bool {
        Utc::now().day() == 1
    }

    pub(super) fn afternoon() -> bool {
        Utc::now().hour() >= 12
    }

    pub(super) fn from_2050_on() -> bool {
        Utc::now().year() >= 2050
    }
}

#[workflow]
async fn by_what_day_it_is(_cx: &Cx, question: u8) -> Result<bool, Error> {
    Ok(match question {
        0 => on_some_days::monday(),
        1 => on_some_days::weekend(),
        2 => on_some_days::december(),
        3 => on_some_days::first_of_a_month(),
        4 => on_some_days::afternoon(),
        _ => on_some_days::from_2050_on(),
    })
}

#[test]
fn what_is_the_same_on_most_days_is_found_on_each() {
    for question in 0..6 {
        assert_eq!(
            found(|t| _ = t.start(by_what_day_it_is, question)),
            ["D101"]
        );
    }
}

fn looked_and_counted() -> u32 {
    use std::cell::Cell;
    thread_local!(static COUNT: Cell<u32> = const { Cell::new(0) });
    let _ = hidden::now();
    COUNT.replace(COUNT.get() + 1)
}

#[workflow]
async fn by_a_count(_cx: &Cx) -> Result<u32, Error> {
    Ok(looked_and_counted())
}

/// It shows on a used thread, and either may be behind it.
#[test]
fn where_a_clock_was_asked_too_both_are_named() {
    let failure = std::thread::spawn(|| failure_of(|t| _ = t.start(by_a_count, ())));
    let Some(TestFailure::Diverged(diverged)) = failure.join().unwrap() else {
        panic!("it passes");
    };
    assert!(diverged.on_a_used_thread);
    let text = diverged.to_string();
    let (_, help) = text.split_once("help: ").unwrap();
    for cause in ["a clock (D101)", "`thread_local!` (D114)"] {
        assert!(help.contains(cause), "{help}");
    }
}
