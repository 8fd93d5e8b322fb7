//! What replay compares and what it does not (S9, S10, O5): a history is told by one version of the code and
//! replayed on another of the same name.

use perennial::history::{CallSite, Decision, RecordSource, Unit};
use perennial::prelude::*;
use perennial::value::Value;
use serde::{Deserialize, Serialize};

use crate::story::{Story, replay};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: String,
    cents: u64,
    note: Option<String>,
}

#[activity(idempotent)]
async fn charge(_acx: &ActivityCx, order: Order) -> Result<String, Failure> {
    Ok(order.id)
}

#[activity(idempotent)]
async fn refund(_acx: &ActivityCx, order: Order) -> Result<String, Failure> {
    Ok(order.id)
}

/// One step of each kind.
#[workflow]
async fn flow(cx: &Cx, order: Order) -> Result<String, Error> {
    let receipt = charge(cx, order).await?;
    let _: u64 = cx.random();
    let _ = cx.uuid();
    let _ = cx.record("limit", || 5);
    select! {
        _ = cx.sleep(seconds(1)) => {},
        _ = cx.sleep(seconds(2)) => {},
    }
    Ok(receipt)
}

fn order() -> Order {
    Order {
        id: "A-1".into(),
        cents: 700,
        note: None,
    }
}

fn told() -> Story {
    let mut story = Story::of::<flow>(order());
    story.complete(1, "R-1");
    story.fire(2);
    assert_eq!(story.result::<String, Error>(), Ok("R-1".into()));
    story
}

/// The history with its `at`-th decision, over all units, replaced.
fn changed(at: usize, change: impl FnOnce(&mut Decision)) -> Vec<Unit> {
    let mut units = told().units;
    let mut decisions = units.iter_mut().flat_map(|unit| &mut unit.decisions);
    change(decisions.nth(at).unwrap());
    units
}

fn refused(units: &[Unit]) -> String {
    let blocked = replay::<flow>(units).unwrap_err();
    assert!(blocked.is_unfit());
    blocked.to_string()
}

#[test]
fn o5_each_kind_of_decision_is_compared_and_refused_at_its_own_event() {
    let kinds = [
        Decision::TimerStarted {
            operation: 1,
            deadline: crate::story::BEGIN,
            site: None,
        },
        Decision::Recorded {
            source: RecordSource::Random,
            value: Value::null(),
            site: None,
        },
        Decision::Dropped { operation: 1 },
        Decision::Completed {
            value: Value::null(),
            open: vec![],
        },
        Decision::Failed {
            error: Value::null(),
            open: vec![],
        },
        Decision::ActivityScheduled {
            operation: 1,
            name: "another".into(),
            input: Value::null(),
            site: None,
        },
    ];
    let count = told().units.iter().map(|unit| unit.decisions.len()).sum();
    let mut events = Vec::new();
    for at in 0..count {
        let mut refused_here = 0;
        for other in &kinds {
            let mut same_kind = false;
            let units = changed(at, |decision| {
                same_kind = std::mem::discriminant(decision) == std::mem::discriminant(other);
                *decision = other.clone();
            });
            if same_kind {
                continue;
            }
            let blocked = replay::<flow>(&units).unwrap_err();
            let perennial::Blocked::Incompatible(error) = blocked else {
                panic!("{blocked}")
            };
            events.push(error.event);
            refused_here += 1;
        }
        assert!(refused_here >= kinds.len() - 1);
    }
    events.dedup();
    // Of 1 started, 2 activity, 3 completed, 4 random, 5 uuid, 6 recorded, 7 sleep, 8 sleep, 9 fired,
    // 10 dropped, 11 completed.
    assert_eq!(events, [2, 4, 5, 6, 7, 8, 10, 11]);
}

#[test]
fn h201_another_kind() {
    let units = changed(0, |decision| {
        *decision = Decision::TimerStarted {
            operation: 1,
            deadline: crate::story::BEGIN,
            site: Some(CallSite {
                file: "src/old.rs".into(),
                line: 7,
                column: 5,
                function: "flow".into(),
            }),
        };
    });
    insta::assert_snapshot!(refused(&units), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H201 changed]

      event 2, operation ~1
          recorded    sleep ~1            src/old.rs:7:5                       begun by artifact first
          this code   activity charge ~1  sdk/tests/machine/compared.rs:31:37  artifact this

      recorded next                    this code asks for
          2 sleep                   ≠  activity charge          ← changed
          4 random draw                random draw
          5 uuid                       uuid
          6 recorded value "limit"     recorded value "limit"

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("change-charge") { .. } else { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn h201_another_name() {
    mod refunds {
        use super::{Order, refund};
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx, order: Order) -> Result<String, Error> {
            Ok(refund(cx, order).await?)
        }
    }
    insta::assert_snapshot!(told().blocked_on::<refunds::flow>(), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H201 changed]

      event 2, operation ~1
          recorded    activity charge ~1  sdk/tests/machine/compared.rs:31:37   begun by artifact first
          this code   activity refund ~1  sdk/tests/machine/compared.rs:170:34  artifact this

      recorded next                    this code asks for
          2 activity charge         ≠  activity refund   ← changed
          4 random draw
          5 uuid
          6 recorded value "limit"

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("change-refund") { .. } else { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn h202_another_input_with_the_path_of_the_first_difference() {
    mod dearer {
        use super::{Order, charge};
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx, mut order: Order) -> Result<String, Error> {
            order.cents += 1;
            Ok(charge(cx, order).await?)
        }
    }
    insta::assert_snapshot!(told().blocked_on::<dearer::flow>(), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H202 changed input]

      event 2, operation ~1
          recorded    activity charge ~1  sdk/tests/machine/compared.rs:31:37   begun by artifact first
          this code   activity charge ~1  sdk/tests/machine/compared.rs:201:34  artifact this
          differs     .cents: 700 became 701

      recorded next                    this code asks for
          2 activity charge         ≠  activity charge   ← changed input
          4 random draw
          5 uuid
          6 recorded value "limit"

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("change-charge") { .. } else { .. }`
      · if it may go on with the recorded input: `#[workflow(compare_inputs = false)]`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn h203_something_more() {
    let mut units = told().units;
    units.truncate(2);
    units[1].decisions.truncate(2);
    insta::assert_snapshot!(refused(&units), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H203 inserted]

      event 6
          recorded    nothing more                                                 begun by artifact first
          this code   recorded value "limit"  sdk/tests/machine/compared.rs:34:16  artifact this

      recorded next                    this code asks for
                                       recorded value "limit"   ← inserted
                                       sleep
                                       sleep

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("add-limit") { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn h204_something_less() {
    mod without {
        use super::{Order, charge};
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx, order: Order) -> Result<String, Error> {
            let receipt = charge(cx, order).await?;
            let _: u64 = cx.random();
            let _ = cx.uuid();
            let _ = cx.record("limit", || 5);
            cx.sleep(seconds(1)).await?;
            Ok(receipt)
        }
    }
    insta::assert_snapshot!(told().blocked_on::<without::flow>(), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H204 removed]

      event 8, operation ~3
          recorded    sleep ~3           sdk/tests/machine/compared.rs:37:13  begun by artifact first
          this code   nothing, it waits                                       artifact this

      recorded next                    this code asks for
           8 sleep        ← removed
          10 drop
          11 return of a result

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if !cx.patched("drop-sleep") { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn another_name_of_a_recorded_value_and_another_draw() {
    for (at, source) in [
        (3, RecordSource::Named("other \"limit\"".into())),
        (1, RecordSource::Uuid),
    ] {
        let units = changed(at, |decision| {
            *decision = Decision::Recorded {
                source,
                value: Value::null(),
                site: None,
            };
        });
        let text = refused(&units);
        assert!(text.contains("H201"), "{text}");
    }
}

#[test]
fn another_operation_number_is_another_operation() {
    for at in [0, 4, 5, 6] {
        let units = changed(at, |decision| match decision {
            Decision::ActivityScheduled { operation, .. }
            | Decision::TimerStarted { operation, .. }
            | Decision::Dropped { operation } => *operation += 10,
            other => panic!("{other:?}"),
        });
        let text = refused(&units);
        assert!(text.contains("H201"), "{text}");
    }
}

#[test]
fn s9_places_options_lengths_and_drawn_values_are_not_compared() {
    mod moved {
        use super::{Order, charge};
        use perennial::prelude::*;

        #[durable]
        async fn elsewhere(cx: &Cx, order: Order) -> Result<String, ActivityError> {
            charge(cx, order)
                .retry(Retry::never())
                .timeout(seconds(9))
                .await
        }

        #[workflow]
        pub(super) async fn flow(cx: &Cx, order: Order) -> Result<String, Error> {
            let receipt = elsewhere(cx, order).await?;
            let _: bool = cx.random();
            let _ = cx.uuid();
            let _: u64 = cx.record("limit", || unreachable!("it is recorded"));
            select! {
                _ = cx.sleep(days(100)) => {},
                _ = cx.sleep_until(Timestamp::from_millis(4_000_000_000_000)) => {},
            }
            Ok(receipt)
        }
    }
    told().replay_on::<moved::flow>().unwrap();
}

#[test]
fn s10_the_canonical_form_is_compared_order_of_members_and_nulls_do_not_matter() {
    let rewritten = |text: &str| {
        let text = Value::from_json(text).unwrap();
        changed(0, |decision| match decision {
            Decision::ActivityScheduled { input, .. } => *input = text,
            other => panic!("{other:?}"),
        })
    };
    for text in [
        r#"{"note":null,"cents":700,"id":"A-1"}"#,
        r#"{ "cents": 700, "id": "A-1" }"#,
        r#"{"id":"\u0041-1","cents":700,"other":null}"#,
    ] {
        replay::<flow>(&rewritten(text)).unwrap();
    }
    for text in [
        r#"{"id":"A-1","cents":700.0}"#,
        r#"{"id":"A-1","cents":"700"}"#,
        r#"{"id":"A-1","cents":700,"note":""}"#,
        r#"{"id":"A-1"}"#,
        r#"[]"#,
    ] {
        let text = refused(&rewritten(text));
        assert!(text.contains("H202") && text.contains("differs"), "{text}");
    }
}

#[test]
fn s10_a_type_that_grew_an_optional_field_replays() {
    mod grown {
        use perennial::prelude::*;
        use serde::{Deserialize, Serialize};

        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order {
            priority: Option<u8>,
            cents: u64,
            id: String,
        }

        #[activity(idempotent)]
        async fn charge(_acx: &ActivityCx, order: Order) -> Result<String, Failure> {
            Ok(order.id)
        }

        #[workflow]
        pub(super) async fn flow(cx: &Cx, order: Order) -> Result<String, Error> {
            let receipt = charge(cx, order).await?;
            let _: u64 = cx.random();
            let _ = cx.uuid();
            let _ = cx.record("limit", || 5);
            select! {
                _ = cx.sleep(seconds(1)) => {},
                _ = cx.sleep(seconds(2)) => {},
            }
            Ok(receipt)
        }
    }
    told().replay_on::<grown::flow>().unwrap();
}

#[test]
fn the_first_difference_is_reported_though_the_code_goes_on() {
    mod wild {
        use super::{Order, charge};
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx, mut order: Order) -> Result<String, Error> {
            // The second is the difference; what follows makes more of them, and panics.
            order.id = format!("{}-{}", order.id, cx.random::<u8>());
            let _ = cx.uuid();
            cx.spawn(charge(cx, order.clone()));
            let parts: Vec<u64> = vec![];
            Ok(format!("{}", parts[cx.random::<u8>() as usize]))
        }
    }
    let text = told().blocked_on::<wild::flow>().to_string();
    insta::assert_snapshot!(text, @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H201 changed]

      event 2, operation ~1
          recorded    activity charge ~1  sdk/tests/machine/compared.rs:31:37   begun by artifact first
          this code   random draw         sdk/tests/machine/compared.rs:416:54  artifact this

      recorded next                    this code asks for
          2 activity charge         ≠  random draw   ← changed
          4 random draw
          5 uuid
          6 recorded value "limit"

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("change-random-draw") { .. } else { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn a_huge_difference_makes_no_huge_error() {
    #[workflow]
    async fn big(cx: &Cx, text: String) -> Result<String, Error> {
        let order = Order {
            id: text,
            cents: 1,
            note: None,
        };
        Ok(charge(cx, order).await?)
    }
    let mut units = Story::of::<big>("x".repeat(900_000)).units;
    if let Decision::ActivityScheduled { input, .. } = &mut units[0].decisions[0] {
        *input = Value::encode(&Order {
            id: "y".repeat(900_000),
            cents: 1,
            note: None,
        })
        .unwrap();
    }
    let blocked = replay::<big>(&units).unwrap_err();
    assert!(blocked.to_string().len() < 3_000);
    assert!(serde_json::to_string(&blocked).unwrap().len() < 3_000);
}
