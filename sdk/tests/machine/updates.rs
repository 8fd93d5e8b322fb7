//! Updates (S27): what a validator refuses is nowhere, what it accepts is a unit with the answer. Each story is told to a
//! cold machine too, which asks no validator.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use perennial::history::{Decision, Observation};
use perennial::machine::Verdict;
use perennial::prelude::*;
use perennial::value::Value;

use crate::story::{Story, started};

const SET_LIMIT: Update<u64, u64, String> = Update::new("set-limit");
const NAME: Update<String, Option<String>, String> = Update::new("name");

#[activity(idempotent)]
async fn ship(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

fn value(of: impl serde::Serialize) -> Value {
    Value::encode(&of).unwrap()
}

fn accepted(name: &str, input: impl serde::Serialize) -> Observation {
    Observation::UpdateAccepted {
        name: name.to_owned(),
        input: value(input),
        key: None,
    }
}

/// What the unit has answered.
fn answer(story: &Story) -> String {
    match story.units.last().unwrap().decisions.first() {
        Some(Decision::UpdateAnswered { value, .. }) => value.as_json().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[workflow]
async fn flow(cx: &Cx) -> Result<u64, Error> {
    let limit = Rc::new(Cell::new(10));
    let set = Rc::clone(&limit);
    cx.handle(
        SET_LIMIT,
        |new: &u64| {
            if *new < 10 {
                Err(format!("{new} is too low"))
            } else {
                Ok(())
            }
        },
        move |new: u64| set.replace(new),
    );
    cx.until(|| limit.get() >= 100).await;
    let shipped = ship(cx, limit.get()).await?;
    cx.until(|| limit.get() >= 500).await;
    Ok(shipped + limit.get())
}

#[test]
fn o21_a_rejected_update_is_no_event_and_an_accepted_one_is_replayed_with_its_answer() {
    let mut story = Story::of::<flow>(());
    let refused = story.validate("set-limit", &value(3));
    assert_eq!(refused, Ok(Verdict::Refused(value("3 is too low"))));
    assert_eq!(story.machine().next_event(), 2);
    assert_eq!(
        story.validate("set-limit", &value(50)),
        Ok(Verdict::Accepted)
    );
    story.observe(accepted("set-limit", 50));
    assert_eq!(answer(&story), "10");
    story.observe(accepted("set-limit", 200));
    assert_eq!(answer(&story), "50");
    story.observe(accepted("set-limit", 600));
    story.complete(1, 1);
    assert!(story.is_finished());
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2 update       set-limit 50
     3   answered    10                                              updates.rs
     4 update       set-limit 200
     5   answered    50                                              updates.rs
     6   activity   ~1 ship 200                                      updates.rs flow
     7 update       set-limit 600
     8   answered    200                                             updates.rs
     9 completed    ~1 ship 1
    10 completed    601
    ");
}

#[test]
fn s27_an_update_is_asked_by_name_and_type() {
    let mut story = Story::of::<flow>(());
    assert_eq!(story.machine().handled(), ["set-limit"]);
    let none = story.validate("set-limits", &value(3));
    let handled = vec!["set-limit"];
    assert_eq!(none, Ok(Verdict::NotHandled { handled }));
    let wrong = story.validate("set-limit", &value("ten"));
    let Ok(Verdict::Undecodable { expected, error }) = wrong else {
        panic!("{wrong:?}")
    };
    assert_eq!(
        (expected, error.problem.contains("expected u64")),
        ("u64", true)
    );
}

#[test]
fn s27_what_is_handled_again_takes_the_place_of_what_was_and_handlers_stay_until_the_end() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<String, Error> {
        let name = Rc::new(RefCell::new(None));
        for prefix in ["a", "b"] {
            let name = Rc::clone(&name);
            cx.handle(
                NAME,
                |_| Ok(()),
                move |new| name.replace(Some(format!("{prefix}-{new}"))),
            );
            ship(cx, 1).await?;
        }
        ship(cx, 2).await?;
        let name = name.borrow_mut().take();
        Ok(name.unwrap_or_default())
    }
    let mut story = Story::of::<flow>(());
    story.observe(accepted("name", "x"));
    assert_eq!(answer(&story), "null");
    story.complete(1, 1);
    story.observe(accepted("name", "y"));
    assert_eq!(answer(&story), "\"a-x\"");
    story.complete(2, 1);
    story.observe(accepted("name", "z"));
    assert_eq!(answer(&story), "\"b-y\"");
    story.complete(3, 1);
    assert_eq!(story.result::<String, Error>().unwrap(), "b-z");
}

mod without {
    use super::*;

    #[workflow]
    pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
        Ok(ship(cx, 1).await?)
    }
}

mod otherwise {
    use super::*;

    #[workflow]
    pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
        let limit = Rc::new(Cell::new(10));
        let set = Rc::clone(&limit);
        cx.handle(
            SET_LIMIT,
            |_| Ok(()),
            move |new: u64| {
                set.set(new);
                new
            },
        );
        cx.until(|| limit.get() >= 100).await;
        Ok(ship(cx, limit.get()).await?)
    }
}

mod another_type {
    use super::*;

    const SET_LIMIT: Update<String, u64, String> = Update::new("set-limit");

    #[workflow]
    pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
        cx.handle(SET_LIMIT, |_| Ok(()), |new| new.len() as u64);
        Ok(ship(cx, 1).await?)
    }
}

#[test]
fn h204_an_update_that_the_code_does_not_handle_any_more_is_told_with_its_answer() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let limit = Rc::new(Cell::new(10));
        cx.handle(SET_LIMIT, |_| Ok(()), move |new: u64| limit.replace(new));
        Ok(ship(cx, 1).await?)
    }
    let mut story = Story::of::<flow>(());
    story.observe(accepted("set-limit", 200));
    let blocked = story.blocked_on::<without::flow>();
    insta::assert_snapshot!(blocked.to_string(), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H204 removed]

      event 4
          recorded    answer to an update  sdk/tests/machine/updates.rs:188:12  begun by artifact first
          this code   nothing, it waits                                         artifact this
          the update "set-limit" was accepted, and here the code handles no updates

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if !cx.patched("drop-answer-to-an-update") { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn h202_an_update_that_is_answered_otherwise_is_told_with_both_answers() {
    let mut story = Story::of::<flow>(());
    story.observe(accepted("set-limit", 200));
    let blocked = story.blocked_on::<otherwise::flow>();
    insta::assert_snapshot!(blocked.to_string(), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H202 changed input]

      event 3
          recorded    answer to an update  sdk/tests/machine/updates.rs:46:8    begun by artifact first
          this code   answer to an update  sdk/tests/machine/updates.rs:158:12  artifact this
          differs     the value: 10 became 200

      recorded next                    this code asks for
          3 answer to an update     ≠  answer to an update   ← changed input
          4 activity ship

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("change-answer-to-an-update") { .. } else { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn h210_an_update_whose_type_has_changed_does_not_decode() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        cx.handle(SET_LIMIT, |_| Ok(()), |new: u64| new);
        Ok(ship(cx, 1).await?)
    }
    let mut story = Story::of::<flow>(());
    story.observe(accepted("set-limit", 200));
    let blocked = story.blocked_on::<another_type::flow>();
    insta::assert_snapshot!(blocked.to_string(), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H210 does not decode]

      event 3
          begun by artifact first, this is artifact this
          what was asked by update "set-limit": the value does not decode as `alloc::string::String`: invalid type: integer `200`, expected a string

    Nothing was changed. The run goes on after any of these:
      · let the type read what was stored: `#[serde(default)]` for a new field, `#[serde(alias = "..")]` for an old name
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn s14_a_panic_of_a_validator_or_a_handler_and_a_use_of_the_cx_in_them_block_the_machine() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.handle(
            SET_LIMIT,
            move |new: &u64| match new {
                1 => panic!("no one"),
                2 => Err(cx.uuid().to_string()),
                _ => Ok(()),
            },
            move |new: u64| match new {
                3 => panic!("no three"),
                4 => cx.random(),
                5 => {
                    cx.emit(Stream::new("output"), new);
                    new
                }
                _ => new,
            },
        );
        ship(cx, 1).await?;
        Ok(())
    }
    let mut texts = Vec::new();
    for input in 1..=2 {
        let mut story = Story::of::<flow>(());
        let blocked = story.validate("set-limit", &value(input)).unwrap_err();
        assert_eq!(story.validate("set-limit", &value(6)), Err(blocked.clone()));
        texts.push(blocked.to_string());
    }
    for input in 3..=5 {
        let mut story = Story::of::<flow>(());
        texts.push(story.blocked(accepted("set-limit", input)).to_string());
    }
    insta::assert_snapshot!(texts.join("\n---\n"), @"
    run order-42 (flow) is blocked: the workflow's code panicked after event 2 [W101]

      no one

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ---
    run order-42 (flow) is blocked: the workflow's code panicked after event 2 [W101]

      the `Cx` was used inside the validator of an update, which only looks at the run, and is not run in replay

      help: let it look at what the handler shares with the workflow; decide something where the workflow sees the change

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ---
    run order-42 (flow) is blocked: the workflow's code panicked after event 2 [W101]

      no three

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ---
    run order-42 (flow) is blocked: the workflow's code panicked after event 2 [W101]

      the `Cx` was used inside the handler of an update, which decides nothing

      help: let it change what it shares with the workflow, and let the workflow wait for that: `cx.until(|| ..).await`

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ---
    run order-42 (flow) is blocked: the workflow's code panicked after event 2 [W101]

      the `Cx` was used inside the handler of an update, which decides nothing

      help: let it change what it shares with the workflow, and let the workflow wait for that: `cx.until(|| ..).await`

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ");
}

#[test]
fn w102_one_update_more_than_a_run_may_handle_and_updates_handled_without_end() {
    #[workflow]
    async fn flow(cx: &Cx, updates: u64) -> Result<(), Error> {
        for number in 0..updates {
            let name: &'static str = format!("update-{number}").leak();
            cx.handle(Update::<u64, u64, String>::new(name), |_| Ok(()), |new| new);
        }
        Ok(())
    }
    assert!(Story::of::<flow>(64).is_finished());
    let blocked = Story::untold::<flow>().blocked(started::<flow>(65));
    assert!(
        blocked.to_string().contains("updates that a run handles"),
        "{blocked}"
    );

    #[workflow]
    async fn endless(cx: &Cx) -> Result<(), Error> {
        loop {
            cx.handle(SET_LIMIT, |_| Ok(()), |new| new);
        }
    }
    let blocked = Story::untold::<endless>()
        .unchecked()
        .blocked(started::<endless>(()));
    assert!(
        blocked
            .to_string()
            .contains("updates handled after one event"),
        "{blocked}"
    );
}

#[test]
fn an_answer_that_cannot_be_stored_blocks_the_run_and_an_update_out_of_nothing_is_damage() {
    const RAW: Update<u64, f64, String> = Update::new("raw");
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.handle(RAW, |_| Ok(()), |_| f64::NAN);
        ship(cx, 1).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    let blocked = story.blocked(accepted("raw", 1));
    assert!(
        blocked.to_string().contains("answer to update \"raw\""),
        "{blocked}"
    );
    let blocked = Story::of::<flow>(()).blocked(accepted("other", 1));
    assert_eq!(blocked.code(), "H213", "{blocked}");
}
