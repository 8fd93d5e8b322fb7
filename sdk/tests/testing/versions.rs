//! Old code, new code and what is in flight between them, without histories of the old code (O48).

use perennial::history::{Decision, History};
use perennial::prelude::*;
use perennial::testing::{TestFailure, TestRun};

use crate::{failure, text_of};

#[activity(idempotent)]
async fn reserve(_acx: &ActivityCx) -> Result<u32, Failure> {
    Ok(0)
}

#[activity(idempotent)]
async fn reserve_in_two_places(_acx: &ActivityCx) -> Result<u32, Failure> {
    Ok(1)
}

/// A day before each of three reservations; which code they have is asked once for the first, and each time for
/// the others.
#[workflow]
async fn order(cx: &Cx) -> Result<Vec<u32>, Error> {
    let mut got = Vec::new();
    cx.sleep(days(1)).await?;
    got.push(match cx.version("first", 0..=2) {
        0 => reserve(cx).await?,
        1 => reserve_in_two_places(cx).await?,
        2 => 2,
    });
    for _ in 0..2 {
        cx.sleep(days(1)).await?;
        if cx.patched_each("others") {
            got.push(reserve_in_two_places(cx).await?);
        } else {
            got.push(reserve(cx).await?);
        }
    }
    Ok(got)
}

fn markers(history: &History) -> Vec<String> {
    let decisions = history.units.iter().flat_map(|unit| &unit.decisions);
    decisions
        .filter_map(|decision| match decision {
            Decision::Marker { id, version, .. } => Some(format!("{id} {version}")),
            _ => None,
        })
        .collect()
}

#[perennial::test]
fn o48_without_more_a_run_has_the_newest_code(t: &mut TestRun) {
    t.mock(reserve_in_two_places, |()| Ok(1));
    let run = t.start(order, ());
    assert_eq!(run.result().unwrap(), [2, 1, 1]);
    assert_eq!(markers(&run.history()), ["first 2", "others 1"]);
}

#[perennial::test]
fn o48_a_run_of_version_0_has_the_history_of_the_old_code(t: &mut TestRun) {
    t.mock(reserve, |()| Ok(0));
    t.version("first", 0);
    t.version("others", 0);
    let run = t.start(order, ());
    assert_eq!(run.result().unwrap(), [0, 0, 0]);
    assert_eq!(markers(&run.history()), [""; 0]);
}

#[perennial::test]
fn o48_a_version_between_is_recorded_as_it_was_then(t: &mut TestRun) {
    t.mock(reserve_in_two_places, |()| Ok(1));
    t.version("first", 1);
    let run = t.start(order, ());
    assert_eq!(run.result().unwrap(), [1, 1, 1]);
    assert_eq!(markers(&run.history()), ["first 1", "others 1"]);
}

#[perennial::test]
fn o48_a_run_in_flight_keeps_what_it_has_decided_and_decides_the_rest_anew(t: &mut TestRun) {
    t.mock(reserve, |()| Ok(0));
    t.mock(reserve_in_two_places, |()| Ok(1));
    t.version("first", 0);
    t.version("others", 0);
    let run = t.start(order, ());
    t.advance(days(2));
    t.newest_version("first");
    t.newest_version("others");
    assert_eq!(run.result().unwrap(), [0, 0, 1]);
    assert_eq!(markers(&run.history()), ["others 1"]);
}

#[perennial::test]
fn o48_a_run_that_has_not_come_to_a_marker_gets_the_newest_code_there(t: &mut TestRun) {
    t.mock(reserve_in_two_places, |()| Ok(1));
    let run = t.start(order, ());
    t.version("first", 1);
    t.advance(hours(30));
    t.newest_version("first");
    assert_eq!(run.result().unwrap(), [1, 1, 1]);
}

#[test]
fn a_version_that_no_run_has_got_fails_the_test() {
    insta::assert_snapshot!(text_of(|t| {
        t.mock(reserve_in_two_places, |()| Ok(1));
        t.version("frist", 0);
        t.start(order, ()).result().unwrap();
    }), @r#"
    the test gives the marker "frist" version 0, and no run has decided on it since

    help: did you mean "first"?
    "#);
    insta::assert_snapshot!(text_of(|t| {
        t.mock(reserve_in_two_places, |()| Ok(1));
        t.start(order, ()).result().unwrap();
        t.version("first", 0);
    }), @r#"
    the test gives the marker "first" version 0, and no run has decided on it since

    help: give it before the run comes to the marker; a run keeps its first answer, unless each call decides anew
    "#);
    let failed = failure(|t| {
        t.version("first", 0);
        t.newest_version("first");
    });
    assert!(matches!(failed, TestFailure::MarkerNotAsked(_)), "{failed}");
}

#[test]
fn a_version_that_the_code_does_not_support_blocks_the_run() {
    insta::assert_snapshot!(text_of(|t| {
        t.version("first", 3);
        let _ = t.start(order, ()).result();
    }), @r#"
    run test-1 (order) is blocked: its history does not fit this program [H207 marker unsupported]

      event 4
          recorded    marker "first" 3                                           begun by artifact test
          this code   marker "first" 0..=2  sdk/tests/testing/versions.rs:..  artifact test
          the test gives this version to the marker

    Nothing was changed. The run goes on after this:
      · support the recorded version again: `match cx.version("first", 0..=3) { .. }`
    "#);
}
