//! Items in streams (S28, acceptance/mailbox.md). Each story is told to a cold machine too, unit by unit.

use perennial::history::{Decision, Observation, StreamEnd};
use perennial::prelude::*;
use serde_json::value::RawValue;

use crate::story::{Story, replay, started};

const OUTPUT: Stream<u64> = Stream::new("output");
const NOTES: Stream<String> = Stream::new("notes");

#[activity(idempotent)]
async fn step(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[workflow]
async fn flow(cx: &Cx) -> Result<(), Error> {
    cx.emit(OUTPUT, 10);
    cx.emit(NOTES, "one".to_owned());
    step(cx).await?;
    cx.emit(OUTPUT, 20);
    Ok(())
}

fn whole() -> Story {
    let mut story = Story::of::<flow>(());
    story.complete(1, ());
    assert_eq!(story.result::<(), Error>(), Ok(()));
    story
}

#[test]
fn b17_items_have_numbers_of_their_streams_without_gaps() {
    insta::assert_snapshot!(whole().text(), @r#"
    1 started      flow null
    2   emitted    output #1 10                                     emit.rs
    3   emitted    notes #1 "one"                                   emit.rs
    4   activity   ~1 step null                                     emit.rs flow
    5 completed    ~1 step null
    6   emitted    output #2 20                                     emit.rs
    7 completed    null
    "#);
}

#[test]
fn s28_numbers_go_on_from_those_of_earlier_generations() {
    let Observation::Started(mut begun) = started::<flow>(()) else {
        unreachable!("it begins like this")
    };
    begun.generation = 2;
    begun.streams = vec![StreamEnd {
        name: "output".into(),
        last: 7,
    }];
    let mut story = Story::untold::<flow>();
    story.observe(Observation::Started(begun));
    story.complete(1, ());
    let decisions = story.units.iter().flat_map(|unit| &unit.decisions);
    let numbers: Vec<_> = decisions
        .filter_map(|decision| match decision {
            Decision::Emitted { stream, number, .. } => Some((&**stream, *number)),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, [("output", 8), ("notes", 1), ("output", 9)]);
}

#[test]
fn b15_another_item_of_the_same_stream_does_not_fit() {
    mod later {
        use super::*;

        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<(), Error> {
            cx.emit(OUTPUT, 10);
            cx.emit(NOTES, "two".to_owned());
            step(cx).await?;
            cx.emit(OUTPUT, 20);
            Ok(())
        }
    }
    insta::assert_snapshot!(whole().blocked_on::<later::flow>(), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H202 changed input]

      event 3
          recorded    emit "notes"  sdk/tests/machine/emit.rs:20:8   begun by artifact first
          this code   emit "notes"  sdk/tests/machine/emit.rs:77:16  artifact this
          differs     the value: "one" became "two"

      recorded next                    this code asks for
          3 emit "notes"            ≠  emit "notes"    ← changed input
          4 activity step              activity step
          6 emit "output"
          7 return of a result

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("change-notes") { .. } else { .. }`
      · if it may go on with the recorded input: `#[workflow(compare_inputs = false)]`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn b15_an_item_of_another_stream_one_more_and_one_less_do_not_fit() {
    mod other {
        use super::*;

        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<(), Error> {
            cx.emit(OUTPUT, 10);
            cx.emit(OUTPUT, 11);
            step(cx).await?;
            cx.emit(OUTPUT, 20);
            Ok(())
        }
    }
    mod more {
        use super::*;

        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<(), Error> {
            cx.emit(OUTPUT, 10);
            cx.emit(NOTES, "one".to_owned());
            step(cx).await?;
            cx.emit(NOTES, "more".to_owned());
            cx.emit(OUTPUT, 20);
            Ok(())
        }
    }
    mod less {
        use super::*;

        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<(), Error> {
            cx.emit(OUTPUT, 10);
            step(cx).await?;
            cx.emit(OUTPUT, 20);
            Ok(())
        }
    }
    let first = |blocked: perennial::Blocked| {
        let text = blocked.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    };
    let story = whole();
    insta::assert_snapshot!([
        first(story.blocked_on::<other::flow>()),
        first(story.blocked_on::<more::flow>()),
        first(story.blocked_on::<less::flow>()),
    ].join("\n"), @"
    run order-42 (flow) is blocked: its history does not fit this program [H201 changed]
    run order-42 (flow) is blocked: its history does not fit this program [H203 inserted]
    run order-42 (flow) is blocked: its history does not fit this program [H204 removed]
    ");
}

#[test]
fn with_inputs_that_are_not_compared_another_item_fits() {
    mod later {
        use super::*;

        #[workflow(compare_inputs = false)]
        pub(super) async fn flow(cx: &Cx) -> Result<(), Error> {
            cx.emit(OUTPUT, 11);
            cx.emit(NOTES, "two".to_owned());
            step(cx).await?;
            cx.emit(OUTPUT, 21);
            Ok(())
        }
    }
    assert_eq!(whole().replay_on::<later::flow>(), Ok(()));
}

#[test]
fn b18_an_item_of_another_type_does_not_fit() {
    mod later {
        use super::*;

        const NOTES: Stream<Vec<String>> = Stream::new("notes");

        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<(), Error> {
            cx.emit(OUTPUT, 10);
            cx.emit(NOTES, vec!["one".to_owned()]);
            step(cx).await?;
            cx.emit(OUTPUT, 20);
            Ok(())
        }
    }
    mod marked {
        use super::*;

        const NOTES_2: Stream<Vec<String>> = Stream::new("notes-2");

        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<(), Error> {
            cx.emit(OUTPUT, 10);
            if cx.patched("notes-2") {
                cx.emit(NOTES_2, vec!["one".to_owned()]);
            } else {
                cx.emit(NOTES, "one".to_owned());
            }
            step(cx).await?;
            cx.emit(OUTPUT, 20);
            Ok(())
        }
    }
    let blocked = whole().blocked_on::<later::flow>();
    assert_eq!(blocked.code(), "H202", "{blocked}");
    assert_eq!(whole().replay_on::<marked::flow>(), Ok(()));
}

#[test]
fn an_item_with_another_number_than_its_own_is_damage() {
    let mut units = whole().units;
    let Some(Decision::Emitted { number, .. }) = units[1].decisions.first_mut() else {
        panic!("an item comes first")
    };
    *number = 5;
    let blocked = replay::<flow>(&units).unwrap_err().to_string();
    assert!(
        blocked.contains("item 5 of stream \"output\" stands where item 2 comes"),
        "{blocked}"
    );
}

#[test]
fn w102_one_stream_more_than_a_run_may_have() {
    #[workflow]
    async fn flow(cx: &Cx, streams: u64) -> Result<(), Error> {
        for number in 0..streams {
            let name: &'static str = format!("stream-{number}").leak();
            cx.emit(Stream::<u64>::new(name), number);
        }
        Ok(())
    }
    assert!(Story::of::<flow>(16).is_finished());
    let mut story = Story::untold::<flow>();
    let blocked = story.blocked(started::<flow>(17));
    assert_eq!(blocked.code(), "W102");
    assert!(
        blocked.to_string().contains("streams of a run"),
        "{blocked}"
    );
}

#[test]
fn an_item_that_cannot_be_stored_blocks_the_run() {
    const RAW: Stream<f64> = Stream::new("raw");
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.emit(RAW, f64::NAN);
        Ok(())
    }
    let mut story = Story::untold::<flow>();
    insta::assert_snapshot!(story.blocked(started::<flow>(())), @r#"
    run order-42 (flow) is blocked: event 2 cannot be written [W104]

      item of stream "raw": the number is not finite (NaN or infinite), so it cannot be stored

      help: store an `Option`, or a text

    Nothing was changed. The run is tried again when a program is started that gives another value.
    "#);
    const TEXT: Stream<Box<RawValue>> = Stream::new("text");
    #[workflow]
    async fn large(cx: &Cx) -> Result<(), Error> {
        let text = format!("\"{}\"", "x".repeat(2 << 20));
        cx.emit(TEXT, RawValue::from_string(text).map_err(Error::from)?);
        Ok(())
    }
    let mut story = Story::untold::<large>();
    let blocked = story.blocked(started::<large>(()));
    assert!(blocked.to_string().contains("1048576"), "{blocked}");
}
