//! The histories as they were told, when they were written.

use perennial::history::{
    ActivityFailure, Decision, ForkedFrom, History, Migrated, Observation, OpenOperation,
    SEMANTICS, SlotResult, Started, StreamEnd, Told, Unit,
};
use perennial::machine::Machine;
use perennial::value::Value;
use perennial::{
    FulfilFailure, Namespace, OperationId, Receipt, RunEnd, RunId, RunKey, SendFailure, Timestamp,
};
use serde::Serialize;

use super::workflows;

fn started(workflow: &str, run: &str, input: impl Serialize) -> Started {
    Started {
        workflow: workflow.to_owned(),
        input: Value::encode(&input).unwrap(),
        semantics: SEMANTICS,
        artifact: "shop-1".to_owned(),
        namespace: Namespace::default(),
        run: RunId::new(run).unwrap(),
        generation: 1,
        first_operation: 1,
        version: None,
        migrated_from: None,
        forked_from: Vec::new(),
        streams: Vec::new(),
    }
}

fn completed(operation: u64, result: impl Serialize) -> Observation {
    let result = Value::encode(&result).unwrap();
    Observation::ActivityCompleted { operation, result }
}

fn told(started: Started, observations: impl IntoIterator<Item = Observation>) -> History {
    let definitions = workflows::all();
    let definition = definitions
        .iter()
        .find(|known| known.name == started.workflow)
        .unwrap();
    let mut draws = 0_u64;
    let entropy = Box::new(move || {
        draws += 1;
        draws.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    let mut machine = Machine::new(*definition, &"shop-1".into(), entropy);
    let run = RunKey::new(started.namespace.clone(), started.run.clone());
    let generation = started.generation;
    let mut at = Timestamp::from_millis(1_700_000_000_000);
    let mut units: Vec<Unit> = Vec::new();
    for observation in std::iter::once(Observation::Started(started)).chain(observations) {
        if let Observation::TimerFired { operation } = &observation {
            let timers = machine.timers();
            at = at.max(
                timers
                    .iter()
                    .find(|(number, _)| number == operation)
                    .unwrap()
                    .1,
            );
        }
        units.push(machine.observe(observation, at, at).unwrap().unit);
        at = at + std::time::Duration::from_millis(40);
    }
    History {
        run,
        generation,
        units,
    }
}

fn everything(run: &str, change: impl FnOnce(&mut Started)) -> History {
    let order = workflows::Order {
        id: "A-1 \"ü\"".to_owned(),
        cents: 1_200,
        note: None,
    };
    let mut started = started("everything", run, order);
    change(&mut started);
    let first = started.first_operation;
    let failed = |at: u64, failure| Observation::ActivityFailed {
        operation: first + at,
        failure,
    };
    let why = workflows::Declined {
        why: "no \u{1b}[31mroom".to_owned(),
    };
    told(
        started,
        [
            completed(first, "R-1"),
            Observation::TimerFired {
                operation: first + 1,
            },
            failed(
                2,
                ActivityFailure::Rejected {
                    value: Value::encode(&why).unwrap(),
                },
            ),
            failed(
                3,
                ActivityFailure::RetriesExhausted {
                    last: "refused\n(os error 111)".to_owned(),
                    attempts: 5,
                },
            ),
            failed(4, ActivityFailure::TimedOut),
            failed(5, ActivityFailure::Cancelled),
            failed(
                6,
                ActivityFailure::TooLarge {
                    size: 2_000_000,
                    limit: 1_048_576,
                },
            ),
            completed(first + 7, 100),
            Observation::TimerFired {
                operation: first + 9,
            },
            Observation::TimerFired {
                operation: first + 10,
            },
        ],
    )
}

fn sent(number: u64, name: &str, payload: impl Serialize, key: Option<&str>) -> Told {
    Told {
        number,
        name: name.to_owned(),
        payload: Value::encode(&payload).unwrap(),
        key: key.map(str::to_owned),
    }
}

/// The first `count` things that it is told, messages and signals among them.
fn receives(run: &str, count: usize) -> History {
    let message = |number, name: &str, payload: &str, key| {
        let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
        Observation::MessageArrived(sent(number, name, payload, key))
    };
    let signal = |number, payload: &str| {
        let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
        Observation::SignalArrived(sent(number, "bell", payload, Some("seldom")))
    };
    let note = "note:to.the_shop-1";
    let observations = [
        message(1, "approval", "1", Some("approve-1 \"ü\"")),
        signal(2, "\"rung\""),
        completed(3, 1_u64),
        message(4, "approval", "\"no number\"", None),
        message(7, "approval", "18446744073709551615", None),
        Observation::TimerFired { operation: 8 },
        message(8, note, r#"{"id":"A-1","cents":1200,"note":null}"#, None),
        message(9, "nobody:waits", "null", Some("never-taken")),
        completed(9, 2_u64),
        signal(12, "{}"),
        Observation::TimerFired { operation: 13 },
        Observation::TimerFired { operation: 15 },
    ];
    let started = started("receives", run, ());
    told(started, observations.into_iter().take(count))
}

/// As long as `count` observations go.
fn publishes(run: &str, count: usize, change: impl Fn(&mut Started)) -> History {
    let order = workflows::Order {
        id: "A-1".to_owned(),
        cents: 1_200,
        note: None,
    };
    let mut started = started("publishes", run, order);
    change(&mut started);
    let first = started.first_operation;
    let observations = [
        completed(first, 1_u64),
        completed(first + 1, 2_u64),
        Observation::TimerFired {
            operation: first + 2,
        },
    ];
    told(started, observations.into_iter().take(count))
}

/// As long as `count` observations go.
fn updates(run: &str, count: usize) -> History {
    let order = |cents| workflows::Order {
        id: "A-1 \"ü\"".to_owned(),
        cents,
        note: None,
    };
    let asked = |cents, key: Option<&str>| Observation::UpdateAccepted {
        name: "set:limit-of.the_shop".to_owned(),
        input: Value::encode(&order(cents)).unwrap(),
        key: key.map(str::to_owned),
    };
    let observations = [
        asked(3, None),
        asked(u64::MAX, Some("raise-1 \"ü\"")),
        completed(1, 1_u64),
        asked(0, None),
    ];
    let started = started("updates", run, order(1_200));
    told(started, observations.into_iter().take(count))
}

/// The first `count` things that it is told, stubs that are fulfilled among them.
fn offers(run: &str, count: usize) -> History {
    let fulfilled = |operation, value: &str, key: Option<&str>| Observation::StubFulfilled {
        operation,
        value: Value::from_json(value).unwrap(),
        key: key.map(str::to_owned),
    };
    // 1 is the mailbox's, 2 the first review, 3 the shipment.
    let observations = [
        fulfilled(1, "\"early\"", Some("put-in-1 \"ü\"")),
        completed(3, 1_u64),
        fulfilled(2, "18446744073709551615", None),
        fulfilled(5, "\"no number\"", None),
        Observation::TimerFired { operation: 7 },
        fulfilled(6, "5", Some("too-late")),
        fulfilled(8, "8", None),
        fulfilled(9, "9", None),
        completed(11, 9_u64),
        fulfilled(4, "\"late\"", None),
    ];
    let started = started("offers", run, ());
    told(started, observations.into_iter().take(count))
}

/// What comes of each send, and what it takes at last.
fn sends(run: &str, count: usize) -> History {
    sends_as(run, count, Vec::new())
}

/// The same, of which the first units were another run's, and the first of those yet another one's.
fn sends_forked(run: &str) -> History {
    let units = sends(run, usize::MAX).units;
    let from = [("order-40", 1), ("order-41", 11)].map(|(run, unit)| ForkedFrom {
        run: RunId::new(run).unwrap(),
        last: units[unit].last(),
    });
    sends_as(run, usize::MAX, from.into())
}

fn sends_as(run: &str, count: usize, forked_from: Vec<ForkedFrom>) -> History {
    let to = |id: &str| RunId::new(id).unwrap();
    let at = Timestamp::from_millis(1_700_000_000_005);
    let sent = |number, duplicate| {
        SlotResult::Sent(Receipt {
            number,
            at,
            duplicate,
        })
    };
    let ended = |end| SendFailure::RunFinished {
        run: to("order-1"),
        end,
        finished: at,
    };
    let results = [
        sent(7, false),
        sent(u64::MAX, true),
        SlotResult::NotSent(SendFailure::RunNotFound { run: to("order-1") }),
        SlotResult::NotSent(ended(RunEnd::Completed)),
        SlotResult::NotSent(ended(RunEnd::Failed)),
        SlotResult::NotSent(ended(RunEnd::Migrated { to: to("order-2") })),
        SlotResult::NotSent(SendFailure::InboxFull {
            run: to("order-1"),
            limit: 10_000,
        }),
        SlotResult::NotSent(SendFailure::NoSuchMessage {
            run: to("order-1"),
            workflow: "order \"ü\"".to_owned(),
            name: "note:to.the_shop-1".to_owned(),
        }),
        SlotResult::NotSent(SendFailure::Conflict { run: to("order-1") }),
        SlotResult::NotSent(SendFailure::Unreadable {
            run: to("order-1"),
            problem: "the checksum does not fit".to_owned(),
        }),
        SlotResult::NotSent(SendFailure::TooLarge {
            size: 2_000_000,
            limit: 1_048_576,
        }),
    ];
    let others = results.len();
    let rings = std::iter::repeat_n(sent(8, false), others + 1);
    let results = results.into_iter().chain(rings);
    let filled = (1..)
        .zip(results)
        .map(|(operation, result)| Observation::SlotFilled { operation, result });
    let taken =
        Observation::MessageArrived(self::sent(9, "approval", 5_u64, Some("order-52~21@3")));
    let ids: Vec<String> = (1..=others).map(|n| format!("order-{n}")).collect();
    let observations = filled.chain([taken]);
    let started = Started {
        forked_from,
        ..started("sends", run, ids)
    };
    told(started, observations.take(count))
}

/// What comes of each, and what it gets of itself at last.
fn fulfils(run: &str, count: usize) -> History {
    let at = Timestamp::from_millis(1_700_000_000_005);
    let receipt = |number, duplicate| Receipt {
        number,
        at,
        duplicate,
    };
    let given = |number, duplicate| SlotResult::Fulfilled(receipt(number, duplicate));
    let refused = SlotResult::NotFulfilled;
    let reference = || OperationId {
        run: RunId::new("order-1").unwrap(),
        number: u64::MAX,
    };
    let stub = || "verdict".to_owned();
    let closed = |end| FulfilFailure::Closed {
        reference: reference(),
        stub: stub(),
        at,
        end,
    };
    let to = RunId::new("order-2").unwrap();
    let results = [
        given(7, false),
        given(u64::MAX, true),
        refused(FulfilFailure::RunNotFound {
            reference: reference(),
        }),
        refused(FulfilFailure::Purged {
            reference: reference(),
        }),
        refused(FulfilFailure::NoSuchOperation {
            reference: reference(),
        }),
        refused(FulfilFailure::NotAStub {
            reference: reference(),
        }),
        refused(FulfilFailure::OtherStub {
            reference: reference(),
            is: "inject \"ü\"".to_owned(),
            given: stub(),
        }),
        refused(FulfilFailure::Conflict {
            reference: reference(),
            stub: stub(),
        }),
        refused(closed(None)),
        refused(closed(Some(RunEnd::Completed))),
        refused(closed(Some(RunEnd::Failed))),
        refused(closed(Some(RunEnd::Migrated { to }))),
        refused(FulfilFailure::Unreadable {
            reference: reference(),
            problem: "the checksum does not fit".to_owned(),
        }),
        refused(FulfilFailure::TooLarge {
            size: 2_000_000,
            limit: 1_048_576,
        }),
    ];
    let others = results.len() as u64;
    // Its own offer is the operation between.
    let own = others + 1;
    let last = [
        (own + 1, given(8, false)),
        (own + 2, SlotResult::Sent(receipt(9, false))),
        (own + 3, given(10, false)),
    ];
    let filled = (1..).zip(results).chain(last);
    let filled = filled.map(|(operation, result)| Observation::SlotFilled { operation, result });
    let asked: Vec<String> = (1..=others).map(|n| format!("order-{n}~{n}")).collect();
    let key = format!("{run}~{}@3", own + 1);
    let by_itself = Observation::StubFulfilled {
        operation: own,
        value: Value::encode("no").unwrap(),
        key: Some(key),
    };
    let observations = filled.chain([by_itself]);
    told(started("fulfils", run, asked), observations.take(count))
}

/// As software writes it that knows no call sites.
fn without_sites(mut history: History) -> History {
    for decision in history
        .units
        .iter_mut()
        .flat_map(|unit| &mut unit.decisions)
    {
        match decision {
            Decision::ActivityScheduled { site, .. }
            | Decision::TimerStarted { site, .. }
            | Decision::Recorded { site, .. }
            | Decision::ReceiveStarted { site, .. }
            | Decision::Emitted { site, .. }
            | Decision::StubOffered { site, .. }
            | Decision::SendRequested { site, .. }
            | Decision::FulfilRequested { site, .. }
            | Decision::Marker { site, .. } => *site = None,
            _ => {}
        }
    }
    history
}

/// Each with its name.
pub(crate) fn histories() -> Vec<(&'static str, History)> {
    let later = |started: &mut Started| {
        started.generation = 2;
        started.first_operation = 8;
        started.version = Some(3);
        started.namespace = Namespace::new("shop").unwrap();
        started.migrated_from = Some(RunId::new("order-41").unwrap());
    };
    // Of its streams it goes on with one, and has had another that the code does not know.
    let goes_on = |started: &mut Started| {
        later(started);
        started.streams = [("total", 41), ("long-ago", 7)]
            .map(|(name, last)| StreamEnd {
                name: name.to_owned(),
                last,
            })
            .into();
    };
    let why = Value::encode(&workflows::Declined {
        why: "no room".to_owned(),
    })
    .unwrap();
    let rejected = Observation::ActivityFailed {
        operation: 2,
        failure: ActivityFailure::Rejected { value: why },
    };
    let moved = |unstarted: Option<Started>| Migrated {
        to: RunId::new("order-42-v2").unwrap(),
        workflow: "waits_v2".to_owned(),
        migration: "to_v2".to_owned(),
        artifact: "shop-2".to_owned(),
        kept: vec![],
        stopped: vec![],
        unstarted: unstarted.map(Box::new),
    };
    let kept = Migrated {
        kept: vec![OpenOperation {
            operation: 1,
            name: "ship".to_owned(),
        }],
        stopped: vec![2],
        ..moved(None)
    };
    let never = started("waits", "order-47", ());
    let run = RunKey::new(never.namespace.clone(), never.run.clone());
    let unstarted = Unit {
        number: 1,
        at: Timestamp::from_millis(1_700_000_000_000),
        observation: Observation::Migrated(moved(Some(never))),
        decisions: vec![],
    };
    vec![
        ("everything", everything("order-42", |_| {})),
        ("everything-later-generation", everything("order-43", later)),
        (
            "everything-without-sites",
            without_sites(everything("order-44", |_| {})),
        ),
        (
            "refuses",
            told(started("refuses", "order-45", 9_u64), [rejected]),
        ),
        (
            "refuses-in-flight",
            told(started("refuses", "order-46", u64::MAX), []),
        ),
        ("receives", receives("order-49", usize::MAX)),
        ("receives-in-flight", receives("order-50", 8)),
        (
            "receives-without-sites",
            without_sites(receives("order-51", usize::MAX)),
        ),
        ("publishes", publishes("order-52", usize::MAX, |_| {})),
        ("publishes-in-flight", publishes("order-53", 1, |_| {})),
        (
            "publishes-later-generation",
            publishes("order-54", usize::MAX, goes_on),
        ),
        (
            "publishes-without-sites",
            without_sites(publishes("order-55", usize::MAX, |_| {})),
        ),
        ("updates", updates("order-56", usize::MAX)),
        ("updates-in-flight", updates("order-57", 2)),
        (
            "updates-without-sites",
            without_sites(updates("order-58", usize::MAX)),
        ),
        ("offers", offers("order-52", usize::MAX)),
        ("offers-in-flight", offers("order-53", 5)),
        (
            "offers-without-sites",
            without_sites(offers("order-54", usize::MAX)),
        ),
        ("sends", sends("order-52", usize::MAX)),
        ("sends-in-flight", sends("order-53", 15)),
        (
            "sends-without-sites",
            without_sites(sends("order-54", usize::MAX)),
        ),
        ("fulfils", fulfils("order-52", usize::MAX)),
        ("fulfils-in-flight", fulfils("order-53", 15)),
        (
            "fulfils-without-sites",
            without_sites(fulfils("order-54", usize::MAX)),
        ),
        ("sends-forked", sends_forked("order-55")),
        (
            "migrated",
            told(
                started("waits", "order-48", ()),
                [Observation::Migrated(kept)],
            ),
        ),
        (
            "migrated-unstarted",
            History {
                run,
                generation: 1,
                units: vec![unstarted],
            },
        ),
    ]
}
