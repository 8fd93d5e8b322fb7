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
    insta::assert_snapshot!(Snapshot::new().redact("set-limit.answer", "[old]").text(&run).unwrap(), @"");
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
    }), @"");
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
    insta::assert_snapshot!([none, near, wrong, over, waits].join("\n---\n"), @"");
}
