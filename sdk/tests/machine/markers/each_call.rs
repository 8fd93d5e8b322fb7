//! Each call decides anew: rows 9 to 14.

use super::*;

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
