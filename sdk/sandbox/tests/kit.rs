//! The sandbox under the test kit: what depends on the world is found, what does not passes, and strict tests
//! let nothing pass. What is asked is hidden in helpers, where no attribute looks.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::time::SystemTime;

use perennial::prelude::*;
use perennial::testing::{TestFailure, TestRun, failure_of};
use perennial_sandbox as _;

#[activity(pure)]
async fn ship(acx: &ActivityCx, lane: u64) -> Result<u64, Failure> {
    let _ = acx;
    Ok(lane)
}

/// Which day of the week it is, of seven.
fn weekday() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    since.as_secs() / 86_400 % 7
}

#[workflow]
async fn by_weekday(cx: &Cx) -> Result<u64, Error> {
    Ok(ship(cx, weekday()).await?)
}

#[workflow]
async fn logs_the_weekday(cx: &Cx) -> Result<u64, Error> {
    let day = weekday();
    let lane = ship(cx, 7).await?;
    cx.log(format_args!("began on day {day}"));
    Ok(lane)
}

fn ticket() -> u64 {
    rand::random()
}

#[workflow]
async fn by_lot(cx: &Cx) -> Result<u64, Error> {
    Ok(ship(cx, ticket()).await?)
}

fn lanes() -> HashMap<u64, &'static str> {
    (0..20).map(|lane| (lane, "open")).collect()
}

#[workflow]
async fn by_order_of_a_map(cx: &Cx) -> Result<u64, Error> {
    let lanes = lanes();
    let first = lanes.keys().next().copied();
    Ok(ship(cx, first.unwrap_or_default()).await?)
}

#[workflow]
async fn by_look_up(cx: &Cx) -> Result<u64, Error> {
    let lane = lanes().contains_key(&7);
    Ok(ship(cx, u64::from(lane)).await?)
}

fn failure<F, M>(workflow: F, strict: bool) -> Option<TestFailure>
where
    F: perennial::WorkflowFn<M, W: perennial::Workflow<Input = ()>>,
{
    failure_of(|t: &mut TestRun| {
        if strict {
            t.strict();
        }
        t.mock(ship, Ok);
        let _ = t.start(workflow, ()).result();
    })
}

#[test]
fn a_weekday_that_reaches_an_activity_is_found() {
    let found = failure(by_weekday, false).unwrap();
    assert!(matches!(found, TestFailure::Diverged(_)), "{found}");
    let text = found.to_string();
    assert!(
        text.contains("[D101] clock_gettime(CLOCK_REALTIME)"),
        "{text}"
    );
    assert!(text.contains("kit::weekday\n"), "{text}");
    assert!(text.contains("tests/kit.rs:21:40"), "{text}");
}

#[test]
fn random_numbers_and_the_order_of_a_map_are_found() {
    for found in [failure(by_lot, false), failure(by_order_of_a_map, false)] {
        let found = found.unwrap();
        assert!(matches!(found, TestFailure::Diverged(_)), "{found}");
    }
}

#[test]
fn a_clock_that_only_a_log_line_shows_passes() {
    assert_eq!(failure(logs_the_weekday, false), None);
    assert_eq!(failure(by_look_up, false), None);
}

#[test]
fn strict_tests_name_the_place() {
    assert_eq!(failure(by_look_up, true), None);
    let found = failure(logs_the_weekday, true).unwrap();
    assert!(matches!(found, TestFailure::Touched(_)), "{found}");
    let text = found.to_string();
    assert!(text.contains("kit::weekday\n"), "{text}");
    assert!(text.contains("tests/kit.rs:32:15"), "{text}");
}
