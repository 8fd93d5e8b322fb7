//! What is found where no sandbox is linked: what differs from thread to thread and from time to time.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use perennial::prelude::*;
use perennial::testing::{Diverged, TestFailure, TestRun, failure_of};

use super::{charge, failure, without_lines};

static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static COUNTED: Cell<u64> = const { Cell::new(0) };
}

/// Another number in each execution.
fn number() -> u64 {
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// The same in each execution on a thread of its own, and more and more on this one.
fn counted() -> u64 {
    COUNTED.set(COUNTED.get() + 1);
    COUNTED.get()
}

#[workflow]
async fn input(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    charge(cx, 1_000 + number()).await?;
    Ok(())
}

#[workflow]
async fn length(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    cx.sleep(days(number())).await?;
    Ok(())
}

#[workflow]
async fn options(cx: &Cx) -> Result<(), Error> {
    charge(cx, 5).timeout(hours(number() + 1)).await?;
    Ok(())
}

#[workflow]
async fn remembered(cx: &Cx) -> Result<(), Error> {
    charge(cx, counted()).await?;
    Ok(())
}

#[workflow]
async fn count_of_steps(cx: &Cx, more: bool) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    let first = counted() > 1;
    if first == more {
        cx.sleep(seconds(1)).await?;
    }
    Ok(())
}

#[workflow]
async fn returned(cx: &Cx) -> Result<u64, Error> {
    cx.sleep(seconds(1)).await?;
    Ok(number())
}

#[workflow]
async fn panics_later(cx: &Cx) -> Result<(), Error> {
    let again = counted() > 1;
    cx.sleep(seconds(1)).await?;
    assert!(again, "it is another thread");
    Ok(())
}

#[workflow]
async fn harmless(cx: &Cx, words: Vec<String>) -> Result<HashMap<String, u64>, Error> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    cx.log(format_args!("{counts:?} {}", number()));
    cx.sleep(seconds(cx.random_range(1..1_000))).await?;
    charge(cx, cx.record("number", number)).await?;
    cx.sleep_until(cx.now() + days(1)).await?;
    Ok(counts)
}

fn diverged(body: impl FnOnce(&mut TestRun)) -> Diverged {
    match failure(body) {
        TestFailure::Diverged(diverged) => *diverged,
        other => panic!("{other}"),
    }
}

#[test]
fn another_input_is_found_in_its_unit() {
    let found = diverged(|t| {
        t.mock(charge, Ok);
        let _ = t.start(input, ()).result();
    });
    assert_eq!((found.event, &*found.after), (4, "event 3 (fired ~1)"));
    assert_eq!(found.first.unwrap().what, "activity charge");
    assert!(found.difference.is_some());
}

#[test]
fn another_deadline_is_found_though_a_replay_of_a_runtime_does_not_compare_it() {
    let found = diverged(|t| {
        let _ = t.start(length, ()).result();
    });
    assert_eq!(found.event, 4);
    let sides = [found.first, found.second].map(|side| side.unwrap());
    assert!(
        sides
            .iter()
            .all(|side| side.what.starts_with("sleep until 20"))
    );
    assert_ne!(sides[0].what, sides[1].what);
}

#[test]
fn other_options_are_found_though_a_replay_of_a_runtime_does_not_compare_them() {
    let found = diverged(|t| {
        t.mock(charge, Ok);
        let _ = t.start(options, ()).result();
    });
    assert_eq!(found.event, 2);
    assert!(found.difference.unwrap().path.contains("timeout"));
}

#[test]
fn more_and_fewer_steps_are_found() {
    counted();
    let more = diverged(|t| {
        let _ = t.start(count_of_steps, true).result();
    });
    insta::assert_snapshot!(without_lines(&more.to_string()));
    let fewer = diverged(|t| {
        let _ = t.start(count_of_steps, false).result();
    });
    insta::assert_snapshot!(without_lines(&fewer.to_string()));
}

#[test]
fn another_result_is_found() {
    let found = diverged(|t| {
        let _ = t.start(returned, ()).result();
    });
    assert_eq!(found.first.unwrap().what, "return of a result");
}

#[test]
fn a_panic_in_the_replay_alone_is_found() {
    counted();
    let found = diverged(|t| {
        let _ = t.start(panics_later, ()).result();
    });
    insta::assert_snapshot!(without_lines(&found.to_string()));
}

#[perennial::test]
fn what_reaches_no_command_and_what_is_recorded_passes(t: &mut TestRun) {
    t.mock(charge, Ok);
    let words = ["a", "b", "a", "c"].map(str::to_owned).to_vec();
    let counts = t.start(harmless, words).result().unwrap();
    assert_eq!(counts["a"], 2);
}

#[test]
fn a_test_may_opt_out() {
    let failure = failure_of(|t| {
        t.without_replays("to show it");
        t.mock(charge, Ok);
        let _ = t.start(input, ()).result();
    });
    assert_eq!(failure, None);
}

#[test]
fn strict_mode_needs_a_sandbox() {
    insta::assert_snapshot!(failure(TestRun::strict));
}

#[perennial::test(strict)]
#[should_panic = "strict mode needs a sandbox"]
fn strict_mode_can_be_asked_for_in_the_attribute(_: &mut TestRun) {}

#[workflow]
async fn many_units(cx: &Cx, units: u64) -> Result<(), Error> {
    for _ in 0..units {
        cx.sleep(seconds(1)).await?;
    }
    Ok(())
}

#[perennial::test]
fn replays_follow_each_unit_up_to_100_and_then_at_doubling_distances(t: &mut TestRun) {
    let run = t.start(many_units, 10_000);
    let mut seen = Vec::new();
    for unit in 1..=10_001 {
        let before = t.report().replays;
        if unit > 1 {
            t.advance(seconds(1));
        } else {
            assert_eq!(before, 1);
        }
        if t.report().replays > before {
            seen.push(unit);
        }
    }
    assert!(run.is_finished());
    assert_eq!(seen[..99], (2..=100).collect::<Vec<_>>());
    assert_eq!(
        seen[99..],
        [
            102, 106, 114, 130, 162, 226, 354, 610, 1122, 2146, 4194, 8290
        ]
    );
}

#[test]
fn what_a_thread_remembers_is_found_when_it_replays_again() {
    // A thread of a runtime has run others before; that of a test, and each fresh one, has not.
    let found = diverged(|t| {
        t.mock(charge, Ok);
        let _ = t.start(remembered, ()).result();
    });
    assert!(found.on_a_used_thread);
    insta::assert_snapshot!(without_lines(&found.to_string()));
}
