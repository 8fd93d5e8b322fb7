//! Updates: what a test asks of its runs, and what the replays find of those that are not as they should be.

use std::cell::Cell;
use std::rc::Rc;

use perennial::prelude::*;
use perennial::testing::{Snapshot, TestRun};

use super::{charge, text_of};

const SET_LIMIT: Update<u64, u64, String> = Update::new("set-limit");
const GO: Message<u64> = Message::new("go");

#[workflow]
async fn budget(cx: &Cx, limit: u64) -> Result<u64, Error> {
    let limit = Rc::new(Cell::new(limit));
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
    let charged = charge(cx, 5).await?;
    cx.until(|| limit.get() >= 500).await;
    Ok(cx.receive(GO).await? + charged + limit.get())
}

#[perennial::test]
fn o21_a_test_asks_for_changes_and_sees_what_is_answered(t: &mut TestRun) {
    t.mock(charge, Ok);
    let run = t.start(budget, 100);
    t.advance(hours(1));
    assert_eq!(run.update(SET_LIMIT, 5), Err("5 is too low".to_owned()));
    run.send(GO, 1);
    assert_eq!(run.update(SET_LIMIT, 200), Ok(100));
    let json = run.update_json("set-limit", "500").unwrap();
    assert_eq!(json.as_json(), "200");
    assert_eq!(run.result().unwrap(), 506);
    insta::assert_snapshot!(Snapshot::new().redact("set-limit.answer", "[old]").text(&run).unwrap(), @r#"
     1 started      budget 100
     2   activity   ~1 charge 5                                      updates.rs budget
     3 completed    ~1 charge 5
     4 message      #1 go 1
     5 update       set-limit 200
     6   answered    "[old]"                                         updates.rs
     7 update       set-limit 500
     8   answered    "[old]"                                         updates.rs
     9   receive    ~2 go                                            updates.rs budget
    10   took       ~2 go #1
    11 completed    506
    "#);
    let history = run.history();
    let again = perennial::history::History::from_json(&history.to_json().unwrap());
    assert_eq!(again.unwrap(), history);
}

/// A `Cell` can be changed through what only looks: a replay does not run the validator, and has the old value.
#[test]
fn s40_a_validator_that_changes_something_is_found_by_the_replay() {
    #[workflow]
    async fn careless(cx: &Cx) -> Result<u64, Error> {
        let limit = Rc::new(Cell::new(100));
        let (seen, set) = (Rc::clone(&limit), Rc::clone(&limit));
        cx.handle(
            SET_LIMIT,
            move |new: &u64| {
                seen.set(seen.get() + 1);
                if *new < 10 {
                    Err("too low".to_owned())
                } else {
                    Ok(())
                }
            },
            move |new: u64| set.replace(new),
        );
        cx.until(|| limit.get() >= 500).await;
        Ok(limit.get())
    }
    insta::assert_snapshot!(text_of(|t| {
        let run = t.start(careless, ());
        assert!(run.update(SET_LIMIT, 5).is_err());
        let _ = run.update(SET_LIMIT, 200);
    }), @"
    the workflow `careless` does not decide the same when it is replayed (run test-1)

      event 3, after event 2 (update set-limit)
          first      answer to an update 102               at sdk/tests/testing/updates.rs:..
          replayed   answer to an update 100               at sdk/tests/testing/updates.rs:..
          differs    the value: 102 became 100

    It was replayed on a fresh thread, with other hash keys alone.

    help: look before this place for what is not the same twice:
      what the validator of an update changes, which is not run again: let the handler change it
      the order of a `HashMap` or `HashSet` (D111): use a `BTreeMap`, or sort
      a clock (D101): use `cx.now()`; random numbers (D102): use `cx.random()` or `cx.uuid()`
      what a `thread_local!` (D114) or a static (D113) remembers: use variables of the workflow
      an address or a thread's id (D112): use a number of your own
      anything else: use `cx.record(..)` or an activity
    help: with `use perennial_sandbox as _;` the clock and random bytes are changed too, and what the code asks the operating system for is told
    ");
}

#[test]
fn a_test_that_asks_for_what_is_not_handled_fails_with_what_is() {
    #[workflow]
    async fn plain(cx: &Cx) -> Result<u64, Error> {
        Ok(cx.receive(GO).await?)
    }
    const LIMITS: Update<u64, u64, String> = Update::new("set-limits");
    let none = text_of(|t| {
        let run = t.start(plain, ());
        let _ = run.update(SET_LIMIT, 5);
    });
    let near = text_of(|t| {
        t.mock(charge, Ok);
        let run = t.start(budget, 1);
        let _ = run.update(LIMITS, 5);
    });
    let wrong = text_of(|t| {
        t.mock(charge, Ok);
        let run = t.start(budget, 1);
        let _ = run.update_json("set-limit", "\"ten\"");
    });
    let over = text_of(|t| {
        let run = t.start(plain, ());
        run.send(GO, 1);
        let _ = run.update(SET_LIMIT, 5);
    });
    let waits = text_of(|t| {
        t.mock(charge, Ok);
        let run = t.start(budget, 1);
        let _ = run.result();
    });
    insta::assert_snapshot!([none, near, wrong, over, waits].join("\n---\n"), @r#"
    the test asks for the update "set-limit", which the run does not handle now (run test-1, workflow `plain`)

    help: `cx.handle(..)` comes before whatever the workflow waits for when the update comes
    ---
    the test asks for the update "set-limits", which the run does not handle now (run test-1, workflow `budget`)

    help: it handles "set-limit"
    ---
    the test asks for the update "set-limit", and what it asks is no `u64`: the value does not decode as `u64`: invalid type: string "ten", expected u64 (run test-1, workflow `budget`)

    help: outside of a test the sender gets an error
    ---
    the test asks for the update "set-limit", and the run has ended (run test-1, workflow `plain`)

    help: outside of a test the sender gets an error; where either may come first, ask `run.is_finished()`
    ---
    the workflow `budget` has no result: it waits (run test-1)

      until a condition holds

    help: the test says what the run is told: `run.update(SET_LIMIT, ..)`
    "#);
}
