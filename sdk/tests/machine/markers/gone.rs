//! The call is gone: rows 15 to 18.

use super::*;

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
      · start artifact first again
      · put the marker "m" back; or, if it was released and the code of its version has stayed, retire it: `perennial lock --accept flow`
      · move it to a new run by a `#[migration]`
    "#);

    let mut story = Story::of::<with_another_first::flow>(());
    story.fire(1);
    let blocked = story.blocked_on::<waits::flow>();
    assert_eq!(misfit(&blocked).event, 5);
    insta::assert_snapshot!(text(&blocked), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H208 marker removed]

      event 5
          recorded    marker "m" 1       sdk/tests/machine/markers/gone.rs  begun by artifact first
          this code   nothing, it waits                                           artifact this

    Nothing was changed. The run goes on after any of these:
      · start artifact first again
      · put the marker "m" back; or, if it was released and the code of its version has stayed, retire it: `perennial lock --accept flow`
      · move it to a new run by a `#[migration]`
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
      · start artifact first again
      · move it to a new run by a `#[migration]`
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
          this code   sleep ~2      sdk/tests/machine/markers/gone.rs  artifact this
          the code asks for the marker earlier, at sdk/tests/machine/markers/gone.rs, where the history has none: version 0

      recorded next                    this code asks for
          4 marker "m" 2            ≠  sleep   ← reordered
          5 sleep

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("reorder-sleep") { .. } else { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}
