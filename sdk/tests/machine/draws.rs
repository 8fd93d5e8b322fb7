//! Draws and values that are made once (S6, O4).

use std::cell::Cell;
use std::collections::BTreeSet;

use perennial::history::{Decision, RecordSource};
use perennial::prelude::*;
use serde::{Deserialize, Serialize};

use crate::story::{Story, started};

thread_local! {
    static MADE: Cell<u32> = const { Cell::new(0) };
}

fn make() -> u32 {
    MADE.set(MADE.get() + 1);
    MADE.get()
}

#[test]
fn o4_draws_are_decisions_that_carry_their_values_and_a_replay_draws_nothing() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u64, u64, bool), Error> {
        let (number, id, flag) = (cx.random(), cx.uuid(), cx.random());
        cx.sleep(seconds(1)).await?;
        let _: u8 = cx.random();
        assert_eq!(id.get_version_num(), 4);
        Ok((number, cx.random_range(10..12), flag))
    }
    // The harness replays with a source of draws that panics.
    let mut story = Story::of::<flow>(());
    story.fire(1);
    assert!(story.is_finished());
    insta::assert_snapshot!(story.text(), @"
    1 started      flow null
    2   random                                                      draws.rs
    3   uuid                                                        draws.rs
    4   random                                                      draws.rs
    5   sleep      ~1                                               draws.rs flow
    6 fired        ~1 sleep
    7   random                                                      draws.rs
    8   random                                                      draws.rs
    9 completed    [11400714819323198485,11,false]
    ");
}

#[test]
fn o4_a_value_is_made_once_and_a_replay_returns_the_recorded_one_without_making_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u32, u32), Error> {
        let first = cx.record("limit", make);
        cx.sleep(seconds(1)).await?;
        Ok((first, cx.record("limit", make)))
    }
    // What is made depends on the thread, so the harness could not make it again.
    let mut story = Story::untold::<flow>().unchecked();
    story.observe(started::<flow>(()));
    story.fire(1);
    assert_eq!(story.result::<(u32, u32), Error>(), Ok((1, 2)));
    assert_eq!(MADE.get(), 2);
    // On this very thread, so that making would be seen.
    let mut machine = Story::untold::<flow>().into_machine();
    for unit in &story.units {
        machine.replay(unit.clone()).unwrap();
    }
    assert_eq!(MADE.get(), 2);
}

#[test]
fn each_kind_of_number_is_drawn_within_its_bounds_and_differs() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<String>, Error> {
        let mut drawn = Vec::new();
        for _ in 0..20 {
            let float: f64 = cx.random();
            assert!((0.0..1.0).contains(&float));
            drawn.push(float.to_string());
            drawn.push(cx.random::<i64>().to_string());
            drawn.push(cx.uuid().to_string());
            let (small, wide): (u8, i32) = (cx.random(), cx.random());
            drawn.push(format!("{small} {wide}"));
            assert!((5..8).contains(&cx.random_range(5..8)));
            assert_eq!(cx.random_range(7..8), 7);
            assert!(cx.random_range(0..u64::MAX) < u64::MAX);
        }
        Ok(drawn)
    }
    let drawn = Story::of::<flow>(())
        .result::<Vec<String>, Error>()
        .unwrap();
    let different: BTreeSet<_> = drawn.iter().collect();
    assert_eq!(different.len(), drawn.len());
}

#[test]
fn an_empty_range_blocks_the_run_with_the_reason() {
    #[workflow]
    #[allow(clippy::reversed_empty_ranges)]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        Ok(cx.random_range(3..3))
    }
    let blocked = Story::untold::<flow>().blocked(started::<flow>(()));
    assert!(
        blocked
            .to_string()
            .contains("needs a range that is not empty"),
        "{blocked}"
    );
}

#[test]
fn s10_a_made_value_that_cannot_be_stored_blocks_the_run() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<f64, Error> {
        Ok(cx.record("ratio", || f64::INFINITY))
    }
    let blocked = Story::untold::<flow>().blocked(started::<flow>(()));
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (flow) is blocked: event 2 cannot be written [W104]

      recorded value "ratio": the number is not finite (NaN or infinite), so it cannot be stored

      help: store an `Option`, or a text

    Nothing was changed. The run is tried again when a program is started that gives another value.
    "#);
}

#[test]
fn a_made_value_that_cannot_be_read_back_blocks_the_run_before_it_is_recorded() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Lossy {
        #[serde(skip_serializing)]
        inner: u8,
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u8, Error> {
        Ok(cx.record("lossy", || Lossy { inner: 7 }).inner)
    }
    let blocked = Story::untold::<flow>().blocked(started::<flow>(()));
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (flow) is blocked: event 3 cannot be written [W104]

      recorded value "lossy": the value cannot be stored: it is written, but cannot be read back: the value does not decode as `machine::draws::a_made_value_that_cannot_be_read_back_blocks_the_run_before_it_is_recorded::Lossy`: missing field `inner`

    Nothing was changed. The run is tried again when a program is started that gives another value.
    "#);
}

#[test]
fn live_and_in_replay_a_made_value_is_what_was_stored() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Cached {
        kept: u8,
        #[serde(skip)]
        dropped: u8,
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u8, u8), Error> {
        let cached = cx.record("cached", || Cached {
            kept: 1,
            dropped: 2,
        });
        cx.sleep(seconds(1)).await?;
        Ok((cached.kept, cached.dropped))
    }
    let mut story = Story::of::<flow>(());
    story.fire(1);
    assert_eq!(story.result::<(u8, u8), Error>(), Ok((1, 0)));
}

#[test]
fn s9_a_recorded_value_of_another_type_blocks_the_run_at_its_own_event() {
    mod text {
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
            let _: u64 = cx.random();
            Ok(cx.record("limit", || "many".to_owned()).len() as u64)
        }
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let _: u64 = cx.random();
        Ok(cx.record("limit", || 5))
    }
    insta::assert_snapshot!(Story::of::<flow>(()).blocked_on::<text::flow>(), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H210 does not decode]

      event 3
          begun by artifact first, this is artifact this
          the recorded value "limit": the value does not decode as `alloc::string::String`: invalid type: integer `5`, expected a string

    Nothing was changed. The run goes on after any of these:
      · let the type read what was stored: `#[serde(default)]` for a new field, `#[serde(alias = "..")]` for an old name
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn the_cx_cannot_be_used_inside_the_closure_that_makes_a_value() {
    // A replay does not run the closure, so what it decided would be missing.
    #[workflow]
    async fn draws(cx: &Cx) -> Result<u64, Error> {
        Ok(cx.record("outer", || cx.random()))
    }
    let blocked = Story::untold::<draws>().blocked(started::<draws>(()));
    insta::assert_snapshot!(blocked, @"
    run order-42 (draws) is blocked: the workflow's code panicked at its beginning [W101]

      the `Cx` was used inside the closure of `cx.record`, which is not run again in replay

      help: make the value first, and then hand it over

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ");

    #[workflow]
    async fn spawns(cx: &Cx) -> Result<(), Error> {
        cx.record("outer", || {
            let _task = cx.spawn(cx.sleep(seconds(1)));
        });
        Ok(())
    }
    let blocked = Story::untold::<spawns>().blocked(started::<spawns>(()));
    assert_eq!(blocked.code(), "W101");

    #[workflow]
    async fn drops(cx: &Cx) -> Result<(), Error> {
        let mut sleep = Box::pin(cx.sleep(seconds(9)));
        select! {
            _ = &mut sleep => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        cx.record("outer", move || drop(sleep));
        Ok(())
    }
    let mut story = Story::of::<drops>(());
    let blocked = story.blocked(perennial::history::Observation::TimerFired { operation: 2 });
    assert_eq!(blocked.code(), "W101");
}

#[test]
fn draws_are_told_apart_by_kind_and_name() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let _: u64 = cx.random();
        let _ = cx.uuid();
        cx.record("a", || 1);
        Ok(())
    }
    let story = Story::of::<flow>(());
    let sources: Vec<_> = story
        .decisions()
        .iter()
        .filter_map(|decision| match decision {
            Decision::Recorded { source, .. } => Some(source.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(
        sources,
        [
            RecordSource::Random,
            RecordSource::Uuid,
            RecordSource::Named("a".into())
        ]
    );
}
