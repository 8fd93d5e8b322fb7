//! Version markers (S36): a test for each row of the table in `machine/markers.rs`.
//!
//! The code before a change is `flow` of one module, the code after it `flow` of another.

use std::ops::RangeInclusive;

use perennial::history::{Decision, Observation};
use perennial::prelude::*;
use perennial::{Blocked, Incompatible, MarkerMismatch};

use crate::story::{Story, replay, started};

#[activity(idempotent)]
pub(crate) async fn new(_acx: &ActivityCx) -> Result<u32, Failure> {
    Ok(1)
}

/// Asks for a marker where the attribute does not look: most tests are about what it gives, and not about arms.
#[track_caller]
pub(crate) fn version(cx: &Cx, id: &'static str, supported: RangeInclusive<u32>) -> u32 {
    cx.version(id, supported)
}

#[track_caller]
pub(crate) fn version_each(cx: &Cx, id: &'static str, supported: RangeInclusive<u32>) -> u32 {
    cx.version_each(id, supported)
}

/// A workflow `flow` of its own module.
macro_rules! code {
    ($name:ident: $cx:ident => $body:block) => {
        #[allow(dead_code)]
        mod $name {
            #[allow(unused_imports)]
            use super::{new, version, version_each};
            #[allow(unused_imports)]
            use perennial::prelude::*;

            #[workflow]
            pub(super) async fn flow($cx: &Cx) -> Result<Vec<u32>, Error> $body
        }
    };
}

/// The markers of a decision list, as `id version`.
fn markers(decisions: &[Decision]) -> Vec<String> {
    let marker = |decision: &Decision| match decision {
        Decision::Marker { id, version, .. } => Some(format!("{id} {version}")),
        _ => None,
    };
    decisions.iter().filter_map(marker).collect()
}

fn all_markers(story: &Story) -> Vec<String> {
    let units = story.units.iter();
    units.flat_map(|unit| markers(&unit.decisions)).collect()
}

fn misfit(blocked: &Blocked) -> &Incompatible {
    match blocked {
        Blocked::Incompatible(error) => error,
        other => panic!("{other}"),
    }
}

/// The error's text without the lines and columns of this file.
fn text(blocked: &Blocked) -> String {
    let mut parts = Vec::new();
    for (at, part) in blocked.to_string().split("markers.rs:").enumerate() {
        let digit = |c: char| c.is_ascii_digit() || c == ':';
        let part = if at == 0 {
            part.to_owned()
        } else {
            // What stands behind is moved to a column by their lengths.
            let part = part.trim_start_matches(digit);
            match part.trim_start_matches(' ') {
                rest if part.starts_with("  ") => format!("  {rest}"),
                _ => part.to_owned(),
            }
        };
        parts.push(part);
    }
    parts.join("markers.rs")
}

fn mismatch(id: &str, recorded: Option<u32>, supported: Option<(u32, u32)>) -> MarkerMismatch {
    MarkerMismatch {
        id: id.into(),
        recorded,
        supported,
    }
}

fn result(story: &Story) -> Vec<u32> {
    story.result::<Vec<u32>, Error>().unwrap()
}

// The code before the change, and what runs of it have recorded.
code!(before: cx => {
    cx.sleep(seconds(1)).await?;
    cx.sleep(seconds(2)).await?;
    Ok(vec![])
});

// ---- the first value sticks --------------------------------------------------------------------------

code!(sticky: cx => {
    cx.sleep(seconds(1)).await?;
    let first = version(cx, "m", 0..=2);
    cx.sleep(seconds(2)).await?;
    Ok(vec![first, version(cx, "m", 0..=2)])
});

#[test]
fn row_1_live_without_a_value_it_is_the_highest_and_recorded() {
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    assert_eq!(markers(story.decisions()), ["m 2"]);
    story.fire(2);
    assert_eq!(result(&story), [2, 2]);
    insta::assert_snapshot!(story.text(), @"
    1 started      flow null
    2   sleep      ~1                                               markers.rs flow
    3 fired        ~1 sleep
    4   marker     m 2                                              markers.rs
    5   sleep      ~2                                               markers.rs flow
    6 fired        ~2 sleep
    7 completed    [2,2]
    ");
}

#[test]
fn row_1_a_highest_of_0_is_not_recorded() {
    code!(nothing_yet: cx => {
        let first = version(cx, "m", 0..=0);
        cx.sleep(seconds(1)).await?;
        Ok(vec![first, version(cx, "m", 0..=1)])
    });
    let mut story = Story::of::<nothing_yet::flow>(());
    story.fire(1);
    // It sticks all the same.
    assert_eq!(result(&story), [0, 0]);
    assert_eq!(all_markers(&story), [""; 0]);
}

#[test]
fn row_2_a_value_of_the_generation_holds_whatever_the_highest_is() {
    code!(higher: cx => {
        cx.sleep(seconds(1)).await?;
        let first = version(cx, "m", 0..=2);
        cx.sleep(seconds(2)).await?;
        Ok(vec![first, version(cx, "m", 0..=5)])
    });
    let mut story = Story::of::<higher::flow>(());
    story.fire(1);
    story.fire(2);
    assert_eq!(result(&story), [2, 2]);
    assert_eq!(all_markers(&story), ["m 2"]);
}

#[test]
fn row_3_a_value_of_the_generation_outside_of_the_range_blocks_live() {
    code!(narrow: cx => {
        cx.sleep(seconds(1)).await?;
        let first = version(cx, "m", 0..=1);
        cx.sleep(seconds(2)).await?;
        Ok(vec![first, version(cx, "m", 2..=3)])
    });
    let mut story = Story::of::<narrow::flow>(());
    story.fire(1);
    let blocked = story.blocked(Observation::TimerFired { operation: 2 });
    let expected = mismatch("m", Some(1), Some((2, 3)));
    assert_eq!(misfit(&blocked).marker, Some(expected));
    insta::assert_snapshot!(text(&blocked), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H207 marker unsupported]

      event 7
          recorded    marker "m" 1                                           begun by artifact first
          this code   marker "m" 2..=3  sdk/tests/machine/markers.rs  artifact this
          the version was recorded as event 4

    Nothing was changed. The run goes on after any of these:
      · support the recorded version again: `match cx.version("m", 1..=3) { .. }`
      · start artifact first again
      · move it to a new run: `migrate order-42`
    "#);
}

#[test]
fn row_3_a_value_of_the_generation_outside_of_the_range_blocks_in_replay() {
    code!(narrow: cx => {
        cx.sleep(seconds(1)).await?;
        let first = version(cx, "m", 0..=2);
        cx.sleep(seconds(2)).await?;
        Ok(vec![first, version(cx, "m", 0..=1)])
    });
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    story.fire(2);
    let blocked = story.blocked_on::<narrow::flow>();
    let error = misfit(&blocked);
    assert_eq!(error.marker, Some(mismatch("m", Some(2), Some((0, 1)))));
    assert_eq!(
        error.detail.as_deref(),
        Some("the version was recorded as event 4")
    );
}

#[test]
fn row_4_in_replay_the_recorded_version_is_taken_and_sticks() {
    code!(higher: cx => {
        cx.sleep(seconds(1)).await?;
        let first = version(cx, "m", 1..=7);
        cx.sleep(seconds(2)).await?;
        Ok(vec![first, version(cx, "m", 1..=7)])
    });
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    story.fire(2);
    story.replay_on::<higher::flow>().unwrap();
}

#[test]
fn row_5_a_recorded_version_outside_of_the_range_is_unsupported_at_its_own_event() {
    code!(earlier: cx => {
        cx.sleep(seconds(1)).await?;
        let first = version(cx, "m", 0..=1);
        cx.sleep(seconds(2)).await?;
        Ok(vec![first])
    });
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    let blocked = story.blocked_on::<earlier::flow>();
    let error = misfit(&blocked);
    assert_eq!(error.event, 4);
    assert_eq!(error.marker, Some(mismatch("m", Some(2), Some((0, 1)))));
    assert!(blocked.is_unfit());
    insta::assert_snapshot!(text(&blocked), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H207 marker unsupported]

      event 4
          recorded    marker "m" 2      sdk/tests/machine/markers.rs  begun by artifact first
          this code   marker "m" 0..=1  sdk/tests/machine/markers.rs  artifact this

    Nothing was changed. The run goes on after any of these:
      · support the recorded version again: `match cx.version("m", 0..=2) { .. }`
      · start artifact first again
      · move it to a new run: `migrate order-42`
    "#);
}

#[test]
fn row_6_in_replay_of_the_code_before_the_marker_it_is_0_which_sticks_live() {
    let mut story = Story::of::<before::flow>(());
    story.fire(1);
    // The second call is live, and gets what the first one got in replay.
    let mut machine = Story::untold::<sticky::flow>().into_machine();
    for unit in &story.units {
        machine.replay(unit.clone()).unwrap();
    }
    let at = story.units[1].at + seconds(9);
    let step = machine
        .observe(Observation::TimerFired { operation: 2 }, at, at)
        .unwrap();
    assert_eq!(markers(&step.unit.decisions), [""; 0]);
    match step.unit.decisions.last() {
        Some(Decision::Completed { value, .. }) => assert_eq!(value.as_json(), "[0,0]"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn row_6_a_call_beyond_the_decisions_of_a_recorded_unit_is_0_too() {
    code!(at_the_end: cx => {
        cx.sleep(seconds(1)).await?;
        // The unit has the second sleep only, which comes first.
        let (slept, version) = join!(cx.sleep(seconds(2)), async { version(cx, "m", 0..=1) });
        slept?;
        if version > 0 {
            new(cx).await?;
        }
        Ok(vec![])
    });
    let mut story = Story::of::<before::flow>(());
    story.fire(1);
    story.fire(2);
    story.replay_on::<at_the_end::flow>().unwrap();
}

#[test]
fn row_7_without_a_recorded_version_0_must_be_supported() {
    code!(without_0: cx => {
        cx.sleep(seconds(1)).await?;
        let first = version(cx, "m", 1..=2);
        cx.sleep(seconds(2)).await?;
        Ok(vec![first])
    });
    let mut story = Story::of::<before::flow>(());
    story.fire(1);
    let blocked = story.blocked_on::<without_0::flow>();
    let error = misfit(&blocked);
    assert_eq!(error.event, 4);
    assert_eq!(error.marker, Some(mismatch("m", None, Some((1, 2)))));
    insta::assert_snapshot!(text(&blocked), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H207 marker unsupported]

      event 4
          recorded    no marker "m": version 0                                       begun by artifact first
          this code   marker "m" 1..=2          sdk/tests/machine/markers.rs  artifact this

    Nothing was changed. The run goes on after any of these:
      · support the recorded version again: `match cx.version("m", 0..=2) { .. }`
      · start artifact first again
      · move it to a new run: `migrate order-42`
    "#);
}

#[test]
fn row_8_a_marker_that_was_moved_before_what_it_followed_is_reordered() {
    code!(after: cx => {
        cx.sleep(seconds(1)).await?;
        let drawn = cx.random_range(3..4);
        assert_eq!(drawn, 3);
        let first = version(cx, "m", 0..=1);
        cx.sleep(seconds(2)).await?;
        Ok(vec![first])
    });
    code!(moved: cx => {
        cx.sleep(seconds(1)).await?;
        let first = version(cx, "m", 0..=1);
        let drawn = cx.random_range(3..4);
        assert_eq!(drawn, 3);
        cx.sleep(seconds(2)).await?;
        Ok(vec![first])
    });
    let mut story = Story::of::<after::flow>(());
    story.fire(1);
    let blocked = story.blocked_on::<moved::flow>();
    assert_eq!(misfit(&blocked).event, 4);
    insta::assert_snapshot!(text(&blocked), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H205 reordered]

      event 4
          recorded    random draw       sdk/tests/machine/markers.rs  begun by artifact first
          this code   marker "m" 0..=1  sdk/tests/machine/markers.rs  artifact this
          the history has the marker after this

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("m-first") { .. } else { .. }`
      · start artifact first again
      · move it to a new run: `migrate order-42`
    "#);
}

// ---- each call decides anew --------------------------------------------------------------------------

code!(each: cx => {
    let mut got = Vec::new();
    for _ in 0..4 {
        cx.sleep(seconds(1)).await?;
        got.push(version_each(cx, "m", 0..=2));
    }
    Ok(got)
});

code!(each_before: cx => {
    for _ in 0..4 {
        cx.sleep(seconds(1)).await?;
    }
    Ok(vec![])
});

#[test]
fn rows_9_and_10_live_only_a_change_is_recorded() {
    let mut story = Story::of::<each::flow>(());
    story.fire(1);
    assert_eq!(markers(story.decisions()), ["m 2"]);
    for timer in 2..=4 {
        story.fire(timer);
        assert_eq!(markers(story.decisions()), [""; 0]);
    }
    assert_eq!(result(&story), [2, 2, 2, 2]);
}

#[test]
fn row_10_a_new_highest_is_recorded_by_the_next_call() {
    code!(newer: cx => {
        let mut got = Vec::new();
        for _ in 0..4 {
            cx.sleep(seconds(1)).await?;
            got.push(version_each(cx, "m", 0..=3));
        }
        Ok(got)
    });
    let mut story = Story::of::<each::flow>(());
    story.fire(1);
    story.fire(2);
    let mut later = story.on::<newer::flow>();
    later.fire(3);
    assert_eq!(markers(later.decisions()), ["m 3"]);
    later.fire(4);
    assert_eq!(result(&later), [2, 2, 3, 3]);
}

#[test]
fn row_11_in_replay_the_recorded_version_is_taken_and_holds_for_the_calls_after_it() {
    let mut story = Story::of::<each::flow>(());
    for timer in 1..=4 {
        story.fire(timer);
    }
    // What is returned is compared, so the calls got the same.
    story.replay_on::<each::flow>().unwrap();
    assert_eq!(all_markers(&story), ["m 2"]);
}

#[test]
fn row_12_a_recorded_version_outside_of_the_range_is_unsupported_at_its_own_event() {
    code!(earlier: cx => {
        let mut got = Vec::new();
        for _ in 0..4 {
            cx.sleep(seconds(1)).await?;
            got.push(version_each(cx, "m", 0..=1));
        }
        Ok(got)
    });
    let mut story = Story::of::<each::flow>(());
    story.fire(1);
    let blocked = story.blocked_on::<earlier::flow>();
    let error = misfit(&blocked);
    assert_eq!((error.kind.code(), error.event), ("H207", 4));
    assert_eq!(error.marker, Some(mismatch("m", Some(2), Some((0, 1)))));
}

#[test]
fn row_13_what_was_recorded_before_the_marker_is_0_and_the_next_live_call_is_the_highest() {
    let mut story = Story::of::<each_before::flow>(());
    story.fire(1);
    story.fire(2);
    let mut later = story.on::<each::flow>();
    later.fire(3);
    assert_eq!(markers(later.decisions()), ["m 2"]);
    later.fire(4);
    assert_eq!(result(&later), [0, 0, 2, 2]);
    later.replay_on::<each::flow>().unwrap();
}

#[test]
fn row_14_what_was_recorded_before_the_marker_needs_version_0() {
    code!(without_0: cx => {
        let mut got = Vec::new();
        for _ in 0..4 {
            cx.sleep(seconds(1)).await?;
            got.push(version_each(cx, "m", 1..=2));
        }
        Ok(got)
    });
    let mut story = Story::of::<each_before::flow>(());
    story.fire(1);
    let blocked = story.blocked_on::<without_0::flow>();
    let error = misfit(&blocked);
    assert_eq!((error.kind.code(), error.event), ("H207", 4));
    assert_eq!(error.marker, Some(mismatch("m", None, Some((1, 2)))));
}

// ---- the call is gone --------------------------------------------------------------------------------

#[test]
fn row_15_a_recorded_marker_that_is_not_asked_for_is_removed_whatever_comes_instead() {
    code!(ends: cx => {
        cx.sleep(seconds(1)).await?;
        Ok(vec![])
    });
    code!(waits: cx => {
        join!(cx.sleep(seconds(1)), cx.sleep(seconds(2))).1?;
        Ok(vec![])
    });
    code!(with_another_first: cx => {
        join!(
            async {
                cx.sleep(seconds(1)).await?;
                let _ = version(cx, "m", 0..=1);
                Ok::<_, Error>(())
            },
            cx.sleep(seconds(2))
        )
        .1?;
        Ok(vec![])
    });
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    for blocked in [
        story.blocked_on::<before::flow>(),
        story.blocked_on::<ends::flow>(),
    ] {
        let error = misfit(&blocked);
        assert_eq!((error.kind.code(), error.event), ("H208", 4));
        assert_eq!(error.marker, Some(mismatch("m", Some(2), None)));
    }
    insta::assert_snapshot!(text(&story.blocked_on::<before::flow>()), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H208 marker removed]

      event 4
          recorded    marker "m" 2  sdk/tests/machine/markers.rs  begun by artifact first
          this code   sleep ~2      sdk/tests/machine/markers.rs  artifact this

      recorded next                    this code asks for
          4 marker "m" 2            ≠  sleep   ← marker removed
          5 sleep

    Nothing was changed. The run goes on after any of these:
      · put the marker "m" back, or retire it: `perennial lock --accept` with the workflow's name
      · start artifact first again
      · move it to a new run: `migrate order-42`
    "#);

    let mut story = Story::of::<with_another_first::flow>(());
    story.fire(1);
    let blocked = story.blocked_on::<waits::flow>();
    assert_eq!(misfit(&blocked).event, 5);
    insta::assert_snapshot!(text(&blocked), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H208 marker removed]

      event 5
          recorded    marker "m" 1       sdk/tests/machine/markers.rs  begun by artifact first
          this code   nothing, it waits                                       artifact this

    Nothing was changed. The run goes on after any of these:
      · put the marker "m" back, or retire it: `perennial lock --accept` with the workflow's name
      · start artifact first again
      · move it to a new run: `migrate order-42`
    "#);
}

#[test]
fn rows_16_and_17_a_retired_marker_is_passed_over_with_the_version_that_has_stayed() {
    use crate::retired::{retired_1, retired_2};
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    story.fire(2);
    // Both sleeps are asked for after it, and the end is compared.
    replay::<retired_2::Flow>(&story.units).unwrap();

    let blocked = replay::<retired_1::Flow>(&story.units).unwrap_err();
    let error = misfit(&blocked);
    assert_eq!((error.kind.code(), error.event), ("H207", 4));
    assert_eq!(error.marker, Some(mismatch("m", Some(2), Some((1, 1)))));
    insta::assert_snapshot!(text(&blocked), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H207 marker unsupported]

      event 4
          recorded    marker "m" 2  sdk/tests/machine/markers.rs  begun by artifact first
          this code   sleep ~2                                           artifact this
          the marker was retired: the code of its version 1 has stayed

      recorded next                    this code asks for
          4 marker "m" 2            ≠  sleep   ← marker unsupported
          5 sleep
          7 return of a result

    Nothing was changed. The run goes on after any of these:
      · support the recorded version again: `match cx.version("m", 1..=2) { .. }`
      · start artifact first again
      · move it to a new run: `migrate order-42`
    "#);
}

#[test]
fn row_18_a_marker_that_was_moved_to_an_earlier_event_is_reordered() {
    code!(moved: cx => {
        let first = version(cx, "m", 0..=2);
        cx.sleep(seconds(1)).await?;
        cx.sleep(seconds(2)).await?;
        Ok(vec![first])
    });
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    let blocked = story.blocked_on::<moved::flow>();
    assert_eq!(misfit(&blocked).event, 4);
    insta::assert_snapshot!(text(&blocked), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H205 reordered]

      event 4
          recorded    marker "m" 2  sdk/tests/machine/markers.rs  begun by artifact first
          this code   sleep ~2      sdk/tests/machine/markers.rs  artifact this
          the code asks for the marker earlier, at sdk/tests/machine/markers.rs, where the history has none: version 0

      recorded next                    this code asks for
          4 marker "m" 2            ≠  sleep   ← reordered
          5 sleep

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("sleep-first") { .. } else { .. }`
      · start artifact first again
      · move it to a new run: `migrate order-42`
    "#);
}

// ---- where they stand, and bounds --------------------------------------------------------------------

#[test]
fn after_a_marker_error_nothing_else_is_decided() {
    code!(goes_on: cx => {
        cx.sleep(seconds(1)).await?;
        let _ = version(cx, "m", 0..=1);
        let _ = version(cx, "other", 5..=6);
        let _ = cx.uuid();
        cx.spawn(new(cx));
        new(cx).await?;
        Ok(vec![])
    });
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    assert_eq!(story.blocked_on::<goes_on::flow>().code(), "H207");
}

#[test]
fn code_that_asks_for_ever_after_an_error_is_stopped() {
    code!(asks_for_ever: cx => {
        cx.sleep(seconds(1)).await?;
        while version(cx, "m", 0..=1) < 5 {}
        Ok(vec![])
    });
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    assert_eq!(story.blocked_on::<asks_for_ever::flow>().code(), "H207");
}

#[test]
fn a_loop_that_asks_for_ever_comes_to_its_bound() {
    code!(for_ever: cx => {
        while version_each(cx, "m", 0..=1) == 1 {}
        Ok(vec![])
    });
    let blocked = Story::untold::<for_ever::flow>().blocked(started::<for_ever::flow>(()));
    insta::assert_snapshot!(text(&blocked), @"
    run order-42 (flow) is blocked: 10001 calls of markers after one event, and there may be at most 10000; this would be event 3 [W102]

    Nothing was changed. Look for a loop that does not end, or do the work in several runs; the run is tried again when a program is started that stays within the bound.
    ");
}

#[test]
fn o51_markers_stand_in_join_loops_helpers_and_spawned_tasks() {
    mod everywhere {
        use perennial::prelude::*;

        #[durable]
        async fn helper(cx: &Cx) -> Result<u32, Error> {
            cx.sleep(seconds(1)).await?;
            match cx.version("helper", 0..=1) {
                0 => Ok(0),
                1 => Ok(1),
            }
        }

        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<Vec<u32>, Error> {
            let task = cx.spawn(async move {
                cx.sleep(seconds(1)).await?;
                let patched = if cx.patched("task") { 1 } else { 0 };
                Ok::<u32, Error>(patched)
            });
            let (a, b) = join!(helper(cx), async {
                match cx.version("arm", 0..=3) {
                    0 => 0,
                    1 | 2 => 1,
                    3 => {
                        cx.sleep(seconds(1)).await?;
                        3
                    }
                }
                .pipe()
            });
            Ok(vec![task.await?, a?, b?])
        }

        trait Pipe: Sized {
            fn pipe(self) -> Result<Self, Error> {
                Ok(self)
            }
        }
        impl Pipe for u32 {}
    }
    let mut story = Story::of::<everywhere::flow>(());
    assert_eq!(markers(story.decisions()), ["arm 3"]);
    for timer in [2, 3, 1] {
        story.fire(timer);
    }
    assert_eq!(result(&story), [1, 1, 3]);
    assert_eq!(all_markers(&story), ["arm 3", "helper 1", "task 1"]);
}

#[test]
fn rw05_a_thousand_iterations_after_the_change_add_one_record() {
    code!(ticks: cx => {
        for _ in 0..5 {
            cx.sleep(seconds(1)).await?;
        }
        for _ in 0..1_000 {
            cx.sleep(seconds(1)).await?;
        }
        Ok(vec![])
    });
    code!(ticks_and_asks: cx => {
        let mut new = 0;
        for _ in 0..1_005 {
            cx.sleep(seconds(1)).await?;
            if cx.patched_each("m") {
                new += 1;
            }
        }
        Ok(vec![new])
    });
    let mut story = Story::of::<ticks::flow>(()).unchecked();
    for timer in 1..=5 {
        story.fire(timer);
    }
    let mut later = story.on::<ticks_and_asks::flow>().unchecked();
    for timer in 6..=1_005 {
        later.fire(timer);
    }
    assert_eq!(result(&later), [1_000]);
    assert_eq!(all_markers(&later), ["m 1"]);
    later.replay_on::<ticks_and_asks::flow>().unwrap();
}

#[test]
fn a_name_is_inert_whatever_is_written_in_it() {
    code!(odd: cx => {
        let odd = version(cx, "a\n\u{1b}[31m {}%s \"q\" \u{202e}", 0..=1);
        let empty = version(cx, "", 0..=1);
        cx.sleep(seconds(1)).await?;
        Ok(vec![odd, empty])
    });
    code!(gone: cx => {
        cx.sleep(seconds(1)).await?;
        Ok(vec![])
    });
    let mut story = Story::of::<odd::flow>(());
    story.fire(1);
    assert_eq!(result(&story), [1, 1]);
    insta::assert_snapshot!(story.text(), @r#"
    1 started      flow null
    2   marker     a\n\u{1b}[31m {}%s \"q\" \u{202e} 1              markers.rs
    3   marker      1                                               markers.rs
    4   sleep      ~1                                               markers.rs flow
    5 fired        ~1 sleep
    6 completed    [1,1]
    "#);
    insta::assert_snapshot!(text(&story.blocked_on::<gone::flow>()), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H208 marker removed]

      event 2
          recorded    marker "a\n\u{1b}[31m {}%s \"q\" \u{202e}" 1  sdk/tests/machine/markers.rs  begun by artifact first
          this code   sleep ~1                                      sdk/tests/machine/markers.rs  artifact this

      recorded next                                          this code asks for
          2 marker "a\n\u{1b}[31m {}%s \"q\" \u{202e}" 1  ≠  sleep   ← marker removed
          3 marker "" 1
          4 sleep
          6 return of a result

    Nothing was changed. The run goes on after any of these:
      · put the marker "a\n\u{1b}[31m {}%s \"q\" \u{202e}" back, or retire it: `perennial lock --accept` with the workflow's name
      · start artifact first again
      · move it to a new run: `migrate order-42`
    "#);
}

#[test]
fn a_name_that_is_too_long_blocks_the_run_live_and_in_replay() {
    mod long {
        use perennial::prelude::*;

        pub(super) fn ask(cx: &Cx, length: usize) -> u32 {
            let id: String = "n".repeat(length);
            // Names are for ever.
            cx.version(id.leak(), 0..=1)
        }

        #[workflow]
        pub(super) async fn flow(cx: &Cx, length: usize) -> Result<u32, Error> {
            Ok(ask(cx, length))
        }
    }
    Story::of::<long::flow>(1_024);
    let blocked = Story::untold::<long::flow>().blocked(started::<long::flow>(1_025));
    insta::assert_snapshot!(text(&blocked), @r#"
    run order-42 (flow) is blocked: event 2 cannot be written [W104]

      marker "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn … (961 bytes left out) … nnnnnnnnnnnnnnnn": the value cannot be stored: its name has 1025 bytes, and may have at most 1024

    Nothing was changed. The run is tried again when a program is started that gives another value.
    "#);
}

#[test]
fn an_empty_range_blocks_the_run_with_the_reason() {
    mod empty {
        use perennial::prelude::*;

        #[allow(clippy::reversed_empty_ranges)]
        pub(super) fn ask(cx: &Cx) -> u32 {
            cx.version("m", 2..=1)
        }

        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<u32, Error> {
            Ok(ask(cx))
        }
    }
    let blocked = Story::untold::<empty::flow>().blocked(started::<empty::flow>(()));
    assert_eq!(blocked.code(), "W101");
    assert!(
        blocked
            .to_string()
            .contains("range of versions that is not empty"),
        "{blocked}"
    );
}

#[test]
fn s14_ten_thousand_markers_are_the_most_after_one_event() {
    mod many {
        use perennial::prelude::*;

        pub(super) fn ask(cx: &Cx, count: usize) -> u32 {
            let names = (0..count).map(|n| &*n.to_string().leak());
            names.map(|name| cx.version(name, 0..=1)).sum()
        }

        #[workflow]
        pub(super) async fn flow(cx: &Cx, count: usize) -> Result<u32, Error> {
            Ok(ask(cx, count))
        }
    }
    let story = Story::of::<many::flow>(9_999);
    assert_eq!(story.result::<u32, Error>(), Ok(9_999));
    let blocked = Story::untold::<many::flow>().blocked(started::<many::flow>(10_001));
    assert_eq!(blocked.code(), "W102");
}

#[test]
fn a_marker_survives_its_encoding_and_json() {
    use perennial::history::{Unit, decode_unit, encode_unit};
    let mut story = Story::of::<sticky::flow>(());
    story.fire(1);
    for unit in &story.units {
        assert_eq!(&decode_unit(&encode_unit(unit)).unwrap(), unit);
        let json = serde_json::to_string(unit).unwrap();
        assert_eq!(&serde_json::from_str::<Unit>(&json).unwrap(), unit);
    }
    let json = serde_json::to_string(&story.units[1].decisions[0]).unwrap();
    assert!(
        json.starts_with(r#"{"marker":{"id":"m","version":2,"site":"#),
        "{json}"
    );
}
