//! The first value sticks: rows 1 to 8.

use super::*;

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
          recorded    marker "m" 1                                                      begun by artifact first
          this code   marker "m" 2..=3  sdk/tests/machine/markers/first_value.rs  artifact this
          the version was recorded as event 4

    Nothing was changed. The run goes on after any of these:
      · support the recorded version again: `match cx.version("m", 1..=3) { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
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
          this code   marker "m" 0..=1  sdk/tests/machine/markers/first_value.rs  artifact this

    Nothing was changed. The run goes on after any of these:
      · support the recorded version again: `match cx.version("m", 0..=2) { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
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
          recorded    no marker "m": version 0                                                   begun by artifact first
          this code   marker "m" 1..=2          sdk/tests/machine/markers/first_value.rs  artifact this

    Nothing was changed. The run goes on after any of these:
      · support the recorded version again: `match cx.version("m", 0..=2) { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
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
          recorded    random draw       sdk/tests/machine/markers/first_value.rs  begun by artifact first
          this code   marker "m" 0..=1  sdk/tests/machine/markers/first_value.rs  artifact this
          the history has the marker after this

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("reorder-m") { .. } else { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

/// A run of code that had the new way without a marker, as a deploy by mistake begins it.
#[test]
fn what_goes_wrong_after_a_marker_that_got_0_says_so() {
    code!(unguarded: cx => {
        cx.sleep(seconds(1)).await?;
        new(cx).await?;
        cx.sleep(seconds(2)).await?;
        Ok(vec![])
    });
    code!(guarded: cx => {
        cx.sleep(seconds(1)).await?;
        if version(cx, "m", 0..=1) > 0 {
            new(cx).await?;
        }
        cx.sleep(seconds(2)).await?;
        Ok(vec![])
    });
    let mut story = Story::of::<unguarded::flow>(());
    story.fire(1);
    let blocked = story.replay_on::<guarded::flow>().unwrap_err();
    let detail = misfit(&blocked).detail.clone().unwrap();
    assert!(
        detail.contains("the marker \"m\" at") && detail.contains("version 0"),
        "{detail}"
    );
}
