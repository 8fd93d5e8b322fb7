//! Every error text of the crate that the machine's stories do not show, as a person reads it: what
//! happened, where, what to do.

#![allow(clippy::unwrap_used)]

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use perennial::history::{CallSite, Decision, RecordSource};
use perennial::prelude::*;
use perennial::value::{Difference, Value};
use perennial::wire::RecordError;
use perennial::{
    ActivityDefinition, Attempt, AttemptEnd, Attempted, Blocked, Incompatible, IncompatibleKind,
    Namespace, OperationId, RunEnd, RunKey, Side, StateType, States,
};

fn found(kind: IncompatibleKind, detail: &str) -> Incompatible {
    Incompatible::found(kind, "order-42", "fulfil", 9, detail.to_owned()).between("7f3c", "b81e")
}

#[test]
fn s17_codes_are_stable_and_say_whether_another_try_of_the_same_program_makes_sense() {
    let lines = IncompatibleKind::ALL.map(|kind| {
        let blocked = Blocked::Incompatible(Box::new(found(kind, "")));
        assert_eq!(blocked.code(), kind.code());
        let unfit = if blocked.is_unfit() { "unfit" } else { "" };
        format!("{} {:<16} {unfit}", kind.code(), kind.name())
            .trim_end()
            .to_owned()
    });
    insta::assert_snapshot!(lines.join("\n"), @"
    H201 changed          unfit
    H202 changed input    unfit
    H203 inserted         unfit
    H204 removed          unfit
    H205 reordered        unfit
    H206 left over        unfit
    H207 marker unsupported unfit
    H208 marker removed   unfit
    H209 not registered   unfit
    H210 does not decode  unfit
    H211 unknown event    unfit
    H212 gap
    H213 damaged
    H214 newer software   unfit
    ");
}

#[test]
fn what_a_driver_finds_beside_the_machine_reads_like_the_rest() {
    let texts = [
        found(
            IncompatibleKind::NotRegistered,
            "the program has no workflow `fulfil`\n\nhelp: the closest one is `fulfill`",
        ),
        found(
            IncompatibleKind::UnknownEvent,
            &RecordError::UnknownKind { kind: 77 }.to_string(),
        ),
        found(
            IncompatibleKind::Damaged,
            &RecordError::Damaged {
                problem: "the checksum does not fit",
            }
            .to_string(),
        ),
        found(
            IncompatibleKind::Newer,
            &RecordError::Newer {
                version: 2,
                understood: 1,
            }
            .to_string(),
        ),
    ]
    .map(|error| error.to_string());
    insta::assert_snapshot!(texts.join("\n----\n"), @"
    run order-42 (fulfil) is blocked: the program lacks a part of it [H209 not registered]

      event 9
          begun by artifact 7f3c, this is artifact b81e
          the program has no workflow `fulfil`

          help: the closest one is `fulfill`

    Nothing was changed. The run goes on after this:
      · start artifact 7f3c again
    ----
    run order-42 (fulfil) is blocked: its history was written by newer software [H211 unknown event]

      event 9
          begun by artifact 7f3c, this is artifact b81e
          the record holds an event of the unknown kind 77

    Nothing was changed. The run goes on after any of these:
      · start the newer software again
      · start artifact 7f3c again
    ----
    run order-42 (fulfil) is blocked: its history cannot be read [H213 damaged]

      event 9
          begun by artifact 7f3c, this is artifact b81e
          the record is damaged: the checksum does not fit

    Nothing was changed. The run goes on after this:
      · keep a copy of the store before anything else, then restore a backup that has the record
    ----
    run order-42 (fulfil) is blocked: its history was written by newer software [H214 newer software]

      event 9
          begun by artifact 7f3c, this is artifact b81e
          the record was written by newer software (schema 2; this one understands up to 1)

    Nothing was changed. The run goes on after any of these:
      · start the newer software again
      · start artifact 7f3c again
    ");
}

#[test]
fn s17_all_fields_are_data() {
    let mut error = found(IncompatibleKind::ChangedInput, "one more thing");
    let side = |line, value: &str| Side {
        what: "activity charge".into(),
        operation: Some(3),
        value: Some(Value::from_json(value).unwrap()),
        site: Some(CallSite {
            file: "src/orders.rs".into(),
            line,
            column: 9,
            function: "fulfil".into(),
        }),
        ..Side::default()
    };
    error.recorded = Some(side(31, r#"{"cents":1}"#));
    error.asked = Some(side(44, r#"{"cents":2}"#));
    error.difference = Some(Difference {
        path: ".cents".into(),
        left: Some("1".into()),
        right: None,
    });
    let error = error.between("7f3c", "b81e");
    let blocked = Blocked::Incompatible(Box::new(error.clone()));
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (fulfil) is blocked: its history does not fit this program [H202 changed input]

      event 9, operation ~3
          recorded    activity charge ~3  src/orders.rs:31:9  begun by artifact 7f3c
          this code   activity charge ~3  src/orders.rs:44:9  artifact b81e
          differs     .cents: 1 became nothing
          one more thing

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("change-activity-charge") { .. } else { .. }`
      · start artifact 7f3c again
      · move it to a new run by a `#[migration]`
    "#);
    let text = serde_json::to_string_pretty(&blocked).unwrap();
    insta::assert_snapshot!(text, @r#"
    {
      "incompatible": {
        "kind": "changed_input",
        "run": "order-42",
        "workflow": "fulfil",
        "event": 9,
        "recorded": {
          "what": "activity charge",
          "operation": 3,
          "value": {"cents":1},
          "site": {
            "file": "src/orders.rs",
            "line": 31,
            "column": 9,
            "function": "fulfil"
          }
        },
        "asked": {
          "what": "activity charge",
          "operation": 3,
          "value": {"cents":2},
          "site": {
            "file": "src/orders.rs",
            "line": 44,
            "column": 9,
            "function": "fulfil"
          }
        },
        "recorded_next": [],
        "asked_next": [],
        "difference": {
          "path": ".cents",
          "left": "1",
          "right": null
        },
        "detail": "one more thing",
        "remedies": [
          {
            "remedy": "add_marker",
            "id": "change-activity-charge",
            "code": "if cx.patched(\"change-activity-charge\") { .. } else { .. }"
          },
          {
            "remedy": "start_artifact",
            "artifacts": [
              "7f3c"
            ]
          },
          {
            "remedy": "migrate",
            "run": "order-42"
          }
        ],
        "started_by": "7f3c",
        "started_version": null,
        "artifact": "b81e",
        "version": null,
        "renamed": null
      }
    }
    "#);
    let back: Incompatible = serde_json::from_value(
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["incompatible"].clone(),
    )
    .unwrap();
    assert_eq!(back, error);
}

#[test]
fn references_that_cannot_be() {
    let ids = [
        "order-42",
        "order-42~",
        "order-42~x",
        "order-42~0",
        "order-42~07",
        "order-42~+7",
        "~1",
        "a b~1",
    ];
    let texts = ids.map(|id| format!("{}", id.parse::<OperationId>().unwrap_err()));
    insta::assert_snapshot!(texts.join("\n"), @r#"
    "order-42" is not an operation: write `<run>~<number>`, as in `order-42~7`
    "order-42~" is not an operation: write `<run>~<number>`, as in `order-42~7`
    "order-42~x" is not an operation: write `<run>~<number>`, as in `order-42~7`
    "order-42~0" is not an operation: write `<run>~<number>`, as in `order-42~7`
    "order-42~07" is not an operation: write `<run>~<number>`, as in `order-42~7`
    "order-42~+7" is not an operation: write `<run>~<number>`, as in `order-42~7`
    a run id cannot be empty

    help: use letters, digits and `.` `_` `:` `-`, at most 128 of them
    the run id "a b" has a space at byte 1, which an id cannot have

    help: use letters, digits and `.` `_` `:` `-`, at most 128 of them
    "#);
    for id in ["order-42~7", "a:b.c_d-e~18446744073709551615"] {
        assert_eq!(id.parse::<OperationId>().unwrap().to_string(), id);
    }
    assert!(
        "order-42~18446744073709551616"
            .parse::<OperationId>()
            .is_err()
    );
    let long = format!("{}!", "x".repeat(1_000));
    let texts = [
        Namespace::new("").unwrap_err(),
        Namespace::new("a/b").unwrap_err(),
        RunId::new(&long).unwrap_err(),
    ]
    .map(|error| error.to_string());
    insta::assert_snapshot!(texts.join("\n----\n"), @r#"
    a namespace id cannot be empty

    help: use letters, digits and `.` `_` `:` `-`, at most 128 of them
    ----
    the namespace id "a/b" has the character `/` at byte 1, which an id cannot have

    help: use letters, digits and `.` `_` `:` `-`, at most 128 of them
    ----
    the run id "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" has the character `!` at byte 1000, which an id cannot have

    help: use letters, digits and `.` `_` `:` `-`, at most 128 of them
    "#);
}

#[test]
fn values_that_do_not_decode() {
    let value = Value::from_json(r#"{"lines":[{"sku":"A"},{"sku":7}]}"#).unwrap();
    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code)]
    struct Order {
        lines: Vec<std::collections::BTreeMap<String, String>>,
    }
    insta::assert_snapshot!(value.decode::<Order>().unwrap_err(), @"the value does not decode as `errors::values_that_do_not_decode::Order`: invalid type: integer `7`, expected a string at `.lines[1].sku`");
    insta::assert_snapshot!(Value::null().decode::<Never>().unwrap_err(), @"the value does not decode as `perennial::outcome::Never`: there is no value of the type `Never`");
    insta::assert_snapshot!(Value::from_json("{").unwrap_err(), @"the text is not a JSON value that can be stored: EOF while parsing an object at line 1 column 1");
}

#[test]
fn s18_how_activities_end_as_a_workflow_reads_it() {
    let ends: [ActivityError<String>; 6] = [
        ActivityError::Rejected("the card was declined".into()),
        ActivityError::RetriesExhausted {
            last: "connection refused".into(),
            attempts: 1,
        },
        ActivityError::RetriesExhausted {
            last: "connection refused".into(),
            attempts: 5,
        },
        ActivityError::TimedOut,
        ActivityError::Cancelled,
        ActivityError::TooLarge {
            size: 2_000_000,
            limit: 1_048_576,
        },
    ];
    let texts = ends.map(|end| end.to_string());
    insta::assert_snapshot!(texts.join("\n"), @"
    the card was declined
    the only attempt failed: connection refused
    all 5 attempts failed, the last one with: connection refused
    the activity's overall deadline passed
    the activity was cancelled
    the activity's input or result is 2000000 bytes long; at most 1048576 can be stored
    ");
    insta::assert_snapshot!(Cancelled, @"the run was cancelled");
}

#[test]
fn the_quick_error_keeps_the_texts_of_the_causes() {
    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);
    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the order cannot be read")
        }
    }
    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }
    let error = Error::from(Outer("x".parse::<u8>().unwrap_err()));
    insta::assert_snapshot!(error, @"the order cannot be read");
    insta::assert_snapshot!(format!("{error:?}"), @"
    the order cannot be read
      caused by: invalid digit found in string
    ");
    let stored = Value::encode(&error).unwrap();
    insta::assert_snapshot!(stored, @r#"{"message":"the order cannot be read","causes":["invalid digit found in string"]}"#);
    assert_eq!(stored.decode::<Error>().unwrap(), error);
}

// ---- attempts ----------------------------------------------------------------------------------------------

#[derive(Debug)]
struct Ledger(u64);

#[activity(pure)]
async fn parse(_acx: &ActivityCx, text: String) -> Result<u64, Failure<String>> {
    if text.is_empty() {
        return Err(Failure::reject("there is nothing to parse".to_owned()));
    }
    Ok(text.parse::<u64>()?)
}

#[activity(pure)]
async fn checked(_acx: &ActivityCx, text: String) -> Result<u64, String> {
    text.parse().map_err(|_| format!("\"{text}\" is no number"))
}

#[activity(pure, blocking)]
fn ratio(_acx: &ActivityCx, of: (f64, f64)) -> Result<f64, Failure> {
    Ok(of.0 / of.1)
}

#[activity(idempotent, state(Ledger))]
async fn book(acx: &ActivityCx) -> Result<String, Failure> {
    let ledger = lookup(acx);
    Ok(format!(
        "{} {} {}",
        ledger.0,
        acx.idempotency_key(),
        acx.attempt()
    ))
}

fn lookup(acx: &ActivityCx) -> &Ledger {
    acx.state::<Ledger>()
}

fn attempt(states: States) -> ActivityCx {
    let run = RunKey::new(Namespace::default(), RunId::new("order-42").unwrap());
    ActivityCx::new(Attempt::new(run, 7, "book"), Arc::new(states))
}

fn run<A: perennial::Activity>(input: &str, states: States) -> AttemptEnd {
    let input = Value::from_json(input).unwrap();
    match (ActivityDefinition::of::<A>().run)(attempt(states), &input).unwrap() {
        Attempted::Blocking(code) => code(),
        Attempted::Asynchronous(mut code) => {
            let code: Pin<&mut _> = code.as_mut();
            match code.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(end) => end,
                Poll::Pending => panic!("these activities never wait"),
            }
        }
    }
}

#[test]
fn s19_any_error_is_transient_a_rejection_is_final_and_a_plain_err_is_one() {
    let none = States::default;
    assert_eq!(
        run::<parse>(r#""7""#, none()),
        AttemptEnd::Completed(Value::encode(&7).unwrap())
    );
    assert_eq!(
        run::<parse>(r#""""#, none()),
        AttemptEnd::Rejected(Value::encode("there is nothing to parse").unwrap())
    );
    assert_eq!(
        run::<parse>(r#""x""#, none()),
        AttemptEnd::Failed("invalid digit found in string".into())
    );
    assert_eq!(
        run::<checked>(r#""x""#, none()),
        AttemptEnd::Rejected(Value::encode("\"x\" is no number").unwrap())
    );
    let AttemptEnd::Unstorable(error) = run::<ratio>("[1.0,0.0]", none()) else {
        panic!("infinity was stored")
    };
    insta::assert_snapshot!(error, @"
    the number is not finite (NaN or infinite), so it cannot be stored

    help: store an `Option`, or a text
    ");
}

#[test]
fn s23_an_activity_sees_its_key_its_attempt_and_its_state() {
    assert_eq!(
        (ActivityDefinition::of::<book>().states)(),
        [StateType::of::<Ledger>()]
    );
    let mut states = States::default();
    assert!(!states.has(&StateType::of::<Ledger>()));
    states.insert(Ledger(5));
    assert!(states.has(&StateType::of::<Ledger>()));
    assert_eq!(
        run::<book>("null", states),
        AttemptEnd::Completed(Value::encode("5 default/order-42~7 1").unwrap())
    );
    let acx = attempt(States::default());
    assert_eq!(acx.operation().to_string(), "order-42~7");
    let mut later = Attempt::new(acx.run().clone(), 7, "book");
    later.number = 2;
    let newer = ActivityCx::new(later.clone(), Arc::default());
    assert!(newer.fencing_token() > acx.fencing_token());
    assert_eq!(newer.idempotency_key(), acx.idempotency_key());
    later.fence = 1;
    later.number = 1;
    assert!(ActivityCx::new(later, Arc::default()).fencing_token() > newer.fencing_token());
}

#[test]
fn a_state_that_is_missing_says_what_to_add() {
    let panicked = std::panic::catch_unwind(|| run::<book>("null", States::default()));
    let text = panicked.unwrap_err().downcast::<String>().unwrap();
    insta::assert_snapshot!(text, @"
    the activity `book` asks for the state `errors::Ledger`, which nobody has given

    help: add `.state(..)` to the runtime's builder, and `state(errors::Ledger)` to the activity's attribute so that a start without it is refused; in a test use `t.state(..)` or `with_state(..)`
    ");
}

#[test]
fn an_activitys_input_that_does_not_decode() {
    let input = Value::from_json("[1]").unwrap();
    let error = (ActivityDefinition::of::<ratio>().run)(attempt(States::default()), &input);
    insta::assert_snapshot!(error.unwrap_err(), @"the value does not decode as `(f64, f64)`: invalid length 1, expected a tuple of size 2");
}

#[test]
fn sides_of_an_incompatibility_name_each_kind_of_decision() {
    // Through their JSON, as a tool would read them.
    let sources = [
        RecordSource::Random,
        RecordSource::Uuid,
        RecordSource::Named("a \"b\"".into()),
    ];
    let text = serde_json::to_string(&sources).unwrap();
    insta::assert_snapshot!(text, @r#"["random","uuid",{"named":"a \"b\""}]"#);
    let end = Decision::Failed {
        error: Value::encode("no").unwrap(),
        open: vec![],
    };
    assert!(end.is_end() && end.site().is_none());
}

#[test]
fn an_error_becomes_a_box_of_any_error() {
    fn any(error: Error) -> Result<(), Box<dyn std::error::Error>> {
        Err(error)?
    }
    fn sent(error: Error) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Err(error)?
    }
    let error = any(Error::new("no stock")).unwrap_err();
    assert_eq!(
        (error.to_string(), format!("{error:?}")),
        ("no stock".into(), "no stock".into())
    );
    assert_eq!(
        sent(Error::new("no stock")).unwrap_err().to_string(),
        "no stock"
    );
}

#[test]
fn what_was_not_sent_says_why() {
    let run = || RunId::new("order-42").unwrap();
    let ended = |end| SendFailure::RunFinished {
        run: run(),
        end,
        finished: Timestamp::from_millis(1_700_000_000_000),
    };
    let texts = [
        SendFailure::RunNotFound { run: run() },
        ended(RunEnd::Completed),
        ended(RunEnd::Failed),
        ended(RunEnd::Migrated {
            to: RunId::new("order-42-v2").unwrap(),
        }),
        SendFailure::InboxFull {
            run: run(),
            limit: 10_000,
        },
        SendFailure::NoSuchMessage {
            run: run(),
            workflow: "order".into(),
            name: "aproval".into(),
        },
        SendFailure::Conflict { run: run() },
        SendFailure::Unreadable {
            run: run(),
            problem: "the head of run order-42: the record is damaged".into(),
        },
        SendFailure::TooLarge {
            size: 2_000_000,
            limit: 1_048_576,
        },
    ];
    insta::assert_snapshot!(texts.map(|failure| failure.to_string()).join("\n----\n"));
}

#[test]
fn what_was_not_fulfilled_says_why() {
    let reference = || "order-42~7".parse::<OperationId>().unwrap();
    let stub = || "review".to_owned();
    let closed = |end| FulfilFailure::Closed {
        reference: reference(),
        stub: stub(),
        at: Timestamp::from_millis(1_700_000_000_000),
        end,
    };
    let texts = [
        FulfilFailure::RunNotFound {
            reference: reference(),
        },
        FulfilFailure::Purged {
            reference: reference(),
        },
        FulfilFailure::NoSuchOperation {
            reference: reference(),
        },
        FulfilFailure::NotAStub {
            reference: reference(),
        },
        FulfilFailure::OtherStub {
            reference: reference(),
            is: "inject".into(),
            given: stub(),
        },
        FulfilFailure::Conflict {
            reference: reference(),
            stub: stub(),
        },
        closed(None),
        closed(Some(RunEnd::Completed)),
        closed(Some(RunEnd::Failed)),
        closed(Some(RunEnd::Migrated {
            to: RunId::new("order-42-v2").unwrap(),
        })),
        FulfilFailure::Unreadable {
            reference: reference(),
            problem: "the head of run order-42: the record is damaged".into(),
        },
        FulfilFailure::TooLarge {
            size: 2_000_000,
            limit: 1_048_576,
        },
    ];
    insta::assert_snapshot!(texts.map(|failure| failure.to_string()).join("\n----\n"));
}
