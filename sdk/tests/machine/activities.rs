//! Activities as a workflow meets them.

use perennial::history::{ActivityFailure, Decision};
use perennial::prelude::*;
use perennial::value::{MAX_VALUE_BYTES, Value};
use perennial::{ActivityOptions, Class};
use serde::{Deserialize, Serialize};

use crate::story::{Story, completed, started};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Declined {
    why: String,
}

impl std::fmt::Display for Declined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "declined: {}", self.why)
    }
}

#[activity(idempotent, attempt = "30s", retry(attempts = 5))]
async fn charge(_acx: &ActivityCx, cents: u64) -> Result<String, Failure<Declined>> {
    Ok(format!("R-{cents}"))
}

#[activity(pure)]
async fn quote(_acx: &ActivityCx, sku: String, count: u8) -> Result<f64, Failure> {
    Ok(f64::from(count) + sku.len() as f64)
}

#[activity(idempotent)]
async fn store(_acx: &ActivityCx, text: String) -> Result<(), Failure> {
    drop(text);
    Ok(())
}

#[workflow]
async fn pay(cx: &Cx, cents: u64) -> Result<String, Error> {
    let price = quote(cx, "sku".to_owned(), 2).await?;
    let receipt = charge(cx, cents).await?;
    Ok(format!("{receipt} for {price}"))
}

#[test]
fn one_after_the_other_each_in_the_unit_of_what_it_waited_for() {
    let mut story = Story::of::<pay>(700);
    story.complete(1, 1.5);
    story.complete(2, "R-1");
    assert_eq!(story.result::<String, Error>(), Ok("R-1 for 1.5".into()));
    insta::assert_snapshot!(story.text(), @r#"
    1 started      pay 700
    2   activity   ~1 quote ["sku",2]                               activities.rs pay
    3 completed    ~1 quote 1.5
    4   activity   ~2 charge 700                                    activities.rs pay
    5 completed    ~2 charge "R-1"
    6 completed    "R-1 for 1.5"
    "#);
}

#[test]
fn what_is_scheduled_carries_its_options_and_its_place_in_the_unit() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let _: u64 = cx.random();
        charge(cx, 1).await?;
        charge(cx, 2)
            .attempt(seconds(1))
            .timeout(minutes(1))
            .retry(Retry::never())
            .await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    let [first] = story.last().scheduled[..] else {
        panic!("{:?}", story.last())
    };
    assert_eq!((first.operation, first.decision), (1, 1));
    let declared = ActivityOptions::new(Class::Idempotent)
        .attempt(seconds(30))
        .retry(Retry::new().attempts(5));
    assert_eq!(first.options, declared);
    let second = story.complete(1, "R").scheduled[0];
    assert_eq!((second.operation, second.decision), (2, 0));
    let set = ActivityOptions::new(Class::Idempotent)
        .attempt(seconds(1))
        .timeout(minutes(1))
        .retry(Retry::never());
    assert_eq!(second.options, set);
}

#[test]
fn nothing_is_scheduled_before_the_call_is_awaited() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let call = charge(cx, 1);
        cx.sleep(days(1)).await?;
        call.await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    assert!(story.last().scheduled.is_empty());
    assert_eq!(story.fire(1).scheduled.len(), 1);
}

#[test]
fn s18_each_way_to_end_without_a_result_reaches_the_workflow_typed() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<String, Never> {
        Ok(match charge(cx, 1).await {
            Ok(receipt) => receipt,
            Err(ActivityError::Rejected(Declined { why })) => format!("rejected {why}"),
            Err(other) => format!("{other:?}: {other}"),
        })
    }
    let ends = [
        ActivityFailure::Rejected {
            value: Value::from_json(r#"{"why":"no funds"}"#).unwrap(),
        },
        ActivityFailure::RetriesExhausted {
            last: "timeout".into(),
            attempts: 5,
        },
        ActivityFailure::TimedOut,
        ActivityFailure::Cancelled,
        ActivityFailure::TooLarge {
            size: 2_000_000,
            limit: 1_048_576,
        },
    ];
    let ends = ends.map(|failure| {
        let mut story = Story::of::<flow>(());
        story.fail(1, failure);
        story.result::<String, Never>().unwrap()
    });
    insta::assert_snapshot!(ends.join("\n"), @r#"
    rejected no funds
    RetriesExhausted { last: "timeout", attempts: 5 }: all 5 attempts failed, the last one with: timeout
    TimedOut: the activity's overall deadline passed
    Cancelled: the activity was cancelled
    TooLarge { size: 2000000, limit: 1048576 }: the activity's input or result is 2000000 bytes long; at most 1048576 can be stored
    "#);
}

#[test]
fn an_activity_error_becomes_the_workflows_error_through_the_question_mark() {
    let mut story = Story::of::<pay>(1);
    story.complete(1, 1.0);
    story.fail(
        2,
        ActivityFailure::Rejected {
            value: Value::encode(&Declined { why: "no".into() }).unwrap(),
        },
    );
    assert_eq!(
        story.result::<String, Error>(),
        Err(Error::new("declined: no"))
    );
}

#[test]
fn s15_an_input_that_is_too_large_is_an_error_that_the_workflow_can_handle_and_no_event() {
    #[workflow]
    async fn flow(cx: &Cx, size: usize) -> Result<String, Error> {
        match store(cx, "x".repeat(size)).await {
            Err(error @ ActivityError::TooLarge { .. }) => Ok(error.to_string()),
            other => Ok(format!("{other:?}")),
        }
    }
    // Two bytes are the quotes of the text.
    let story = Story::of::<flow>(MAX_VALUE_BYTES - 2);
    assert!(matches!(
        story.decisions(),
        [Decision::ActivityScheduled { .. }]
    ));
    let story = Story::of::<flow>(MAX_VALUE_BYTES - 1);
    assert!(matches!(story.decisions(), [Decision::Completed { .. }]));
    insta::assert_snapshot!(story.result::<String, Error>().unwrap(), @"the activity's input or result is 1048577 bytes long; at most 1048576 can be stored");
}

#[test]
fn s10_an_input_that_cannot_be_stored_exactly_blocks_the_run() {
    #[activity(pure)]
    async fn measure(_acx: &ActivityCx, at: (f64, f64)) -> Result<f64, Failure> {
        Ok(at.0 + at.1)
    }
    #[workflow]
    async fn flow(cx: &Cx, by: f64) -> Result<f64, Error> {
        Ok(measure(cx, (1.0, 0.0 / by)).await?)
    }
    let blocked = Story::untold::<flow>().blocked(started::<flow>(0.0));
    assert_eq!(blocked.code(), "W104");
    assert!(!blocked.is_unfit());
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: event 2 cannot be written [W104]

      the input of `measure`: the number at `[1]` is not finite (NaN or infinite), so it cannot be stored

      help: store an `Option`, or a text

    Nothing was changed. The run is tried again when a program is started that gives another value.
    ");
}

#[test]
fn s14_a_result_that_is_not_of_the_type_blocks_the_run_at_the_event_that_had_it() {
    let blocked = Story::of::<pay>(1).blocked(completed(1, "cheap"));
    assert_eq!(blocked.code(), "H210");
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (pay) is blocked: its history does not fit this program [H210 does not decode]

      event 3
          begun by artifact first, this is artifact this
          the result of `quote`: the value does not decode as `f64`: invalid type: string "cheap", expected f64

    Nothing was changed. The run goes on after any of these:
      · let the type read what was stored: `#[serde(default)]` for a new field, `#[serde(alias = "..")]` for an old name
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn a_rejection_that_is_not_of_the_type_blocks_the_run_too() {
    let mut story = Story::of::<pay>(1);
    story.complete(1, 1.0);
    let blocked = story.blocked(perennial::history::Observation::ActivityFailed {
        operation: 2,
        failure: ActivityFailure::Rejected {
            value: Value::from_json(r#"{"why":7}"#).unwrap(),
        },
    });
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (pay) is blocked: its history does not fit this program [H210 does not decode]

      event 5
          begun by artifact first, this is artifact this
          the result of `charge`: the value does not decode as `machine::activities::Declined`: invalid type: integer `7`, expected a string at `.why`

    Nothing was changed. The run goes on after any of these:
      · let the type read what was stored: `#[serde(default)]` for a new field, `#[serde(alias = "..")]` for an old name
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn a_result_that_comes_while_nobody_looks_is_there_when_somebody_does() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<String, Error> {
        let mut first = Box::pin(charge(cx, 1).into_future());
        let both = select! {
            _ = &mut first => 0,
            second = charge(cx, 2) => second?.len(),
        };
        cx.sleep(seconds(1)).await?;
        Ok(format!("{both} {}", first.await?))
    }
    let mut story = Story::of::<flow>(());
    story.complete(2, "22");
    // The future of the first is held, not polled.
    story.complete(1, "R-1");
    assert!(story.decisions().is_empty());
    story.fire(3);
    assert_eq!(story.result::<String, Error>(), Ok("2 R-1".into()));
}

#[test]
fn s21_of_two_results_the_first_counts() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<String, Error> {
        let mut first = Box::pin(charge(cx, 1).into_future());
        select! {
            _ = &mut first => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        cx.sleep(seconds(1)).await?;
        Ok(first.await?)
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    story.complete(1, "first");
    story.complete(1, "second");
    story.fire(3);
    assert_eq!(story.result::<String, Error>(), Ok("first".into()));
}
