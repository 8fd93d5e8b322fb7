//! Where markers stand, their names, and their bounds.

use super::*;

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
    2   marker     a\n\u{1b}[31m {}%s \"q\" \u{202e} 1              bounds.rs
    3   marker      1                                               bounds.rs
    4   sleep      ~1                                               bounds.rs flow
    5 fired        ~1 sleep
    6 completed    [1,1]
    "#);
    insta::assert_snapshot!(text(&story.blocked_on::<gone::flow>()), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H208 marker removed]

      event 2
          recorded    marker "a\n\u{1b}[31m {}%s \"q\" \u{202e}" 1  sdk/tests/machine/markers/bounds.rs  begun by artifact first
          this code   sleep ~1                                      sdk/tests/machine/markers/bounds.rs  artifact this

      recorded next                                          this code asks for
          2 marker "a\n\u{1b}[31m {}%s \"q\" \u{202e}" 1  ≠  sleep   ← marker removed
          3 marker "" 1
          4 sleep
          6 return of a result

    Nothing was changed. The run goes on after any of these:
      · start artifact first again
      · put the marker "a\n\u{1b}[31m {}%s \"q\" \u{202e}" back; or, if it was released and the code of its version has stayed, retire it: `perennial lock --accept flow`
      · move it to a new run by a `#[migration]`
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
