//! Runs at points in time that are known, with something of everything that a shell shows.

use std::sync::mpsc::channel;

use perennial::history::{
    ActivityFailure, Channel, Decision, Observation, RecordSource, SEMANTICS, SlotResult, Started,
    Told, Unit,
};
use perennial::value::Value;
use perennial::{ActivityOptions, Class, FulfilFailure, Receipt, RunKey, SendFailure, Timestamp};
use perennial_runtime::store::{
    Ack, AttemptOutcome, AttemptRecord, Awaited, BlockedChange, BlockedRecord, Changes, Commit,
    Create, Deliver, OfferChange, ProgramRecord, Status, Store, StoreError, Task, TaskChange,
    TimerChange, ViewChange, ViewRecord,
};

/// What nobody may get to see as it is.
pub(crate) const EVIL: &str = "evil\u{1b}[2J\u{9b}31m\u{202e}";

/// 24 November 2025, 16:00, and so many seconds.
pub(crate) fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_764_000_000_000 + seconds * 1_000)
}

pub(crate) fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> Result<T, StoreError> {
    let (answer, answered) = channel();
    write(Box::new(move |result| answer.send(result).unwrap()));
    answered.recv().unwrap()
}

fn json(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

fn key(run: &str) -> RunKey {
    run.parse().unwrap()
}

pub(crate) fn create(store: &dyn Store, run: &str, workflow: &str) {
    let create = Create {
        run: key(run),
        workflow: workflow.into(),
        input: Value::null().digest(),
        after: None,
        keys: Vec::new(),
        owner: store.enroll().unwrap(),
        changes: Changes {
            stamp: at(0),
            ..Changes::default()
        },
    };
    wait(|ack| store.create(create, ack)).unwrap();
}

pub(crate) fn commit(store: &dyn Store, run: &str, changes: Changes) {
    let head = store.head(&key(run)).unwrap().unwrap();
    let commit = Commit {
        run: key(run),
        fence: head.fence,
        generation: head.generation,
        sequence: head.sequence,
        changes,
    };
    wait(|ack| store.commit(commit, ack)).unwrap();
}

/// Units one after the other.
pub(crate) struct Units(pub(crate) Vec<Unit>);

impl Units {
    pub(crate) fn of(run: &str, workflow: &str, decisions: Vec<Decision>) -> Self {
        let key = key(run);
        let started = Started {
            workflow: workflow.into(),
            input: json(r#"{"id":"A-1","cents":1200}"#),
            semantics: SEMANTICS,
            artifact: "monday".into(),
            namespace: key.namespace,
            run: key.id,
            generation: 1,
            first_operation: 1,
            version: None,
            streams: Vec::new(),
            migrated_from: None,
            forked_from: Vec::new(),
        };
        Self(Vec::new()).and(0, Observation::Started(started), decisions)
    }

    pub(crate) fn and(
        mut self,
        seconds: u64,
        observation: Observation,
        decisions: Vec<Decision>,
    ) -> Self {
        self.0.push(Unit {
            number: self.0.last().map_or(1, |unit| unit.last() + 1),
            at: at(seconds),
            observation,
            decisions,
        });
        self
    }
}

pub(crate) fn activity(operation: u64, name: &'static str) -> Decision {
    Decision::ActivityScheduled {
        operation,
        name: name.into(),
        input: Value::null(),
        site: None,
    }
}

pub(crate) fn completed(operation: u64, result: &str) -> Observation {
    Observation::ActivityCompleted {
        operation,
        result: json(result),
    }
}

pub(crate) fn receive(operation: u64, channel: Channel, name: &'static str) -> Decision {
    Decision::ReceiveStarted {
        operation,
        channel,
        name: name.into(),
        site: None,
    }
}

pub(crate) fn told(number: u64, name: &str, payload: &str) -> Told {
    Told {
        number,
        name: name.into(),
        payload: json(payload),
        key: None,
    }
}

fn took(operation: u64, number: u64) -> Decision {
    Decision::Received {
        operation,
        channel: Channel::Message,
        number,
        invalid: None,
    }
}

fn failed(operation: u64, attempt: u32, error: &str, seconds: u64) -> AttemptRecord {
    AttemptRecord {
        operation,
        attempt,
        outcome: AttemptOutcome::Failed {
            error: error.into(),
        },
        at: at(seconds),
    }
}

/// A run that has been through much, and waits.
fn order(store: &dyn Store) {
    let run = "order-42";
    create(store, run, "order");
    let approval = told(1, "approval", r#"{"approved":true}"#);
    deliver(store, run, Observation::MessageArrived(approval), 1);
    let hurry = told(2, "hurry", "null");
    deliver(store, run, Observation::SignalArrived(hurry), 4);
    let timer = |operation, seconds| Decision::TimerStarted {
        operation,
        deadline: at(seconds),
        site: None,
    };
    let recorded = Decision::Recorded {
        source: RecordSource::Named("discount".into()),
        value: json("5"),
        site: None,
    };
    let marker = Decision::Marker {
        id: "fraud-check".into(),
        version: 1,
        site: None,
    };
    let rejected = Observation::ActivityFailed {
        operation: 2,
        failure: ActivityFailure::Rejected {
            value: json(r#"{"why":"no stock"}"#),
        },
    };
    let units = Units::of(run, "order", vec![activity(1, "charge_card")])
        .and(
            1,
            Observation::MessageArrived(told(1, "approval", r#"{"approved":true}"#)),
            vec![],
        )
        .and(
            2,
            completed(1, r#"{"receipt":"R-1"}"#),
            vec![
                marker,
                recorded,
                activity(2, "reserve"),
                receive(3, Channel::Message, "approval"),
                took(3, 1),
            ],
        )
        .and(
            3,
            rejected,
            vec![receive(4, Channel::Signal, "hurry"), timer(5, 60)],
        )
        .and(
            4,
            Observation::SignalArrived(told(2, "hurry", "null")),
            vec![
                Decision::Received {
                    operation: 4,
                    channel: Channel::Signal,
                    number: 2,
                    invalid: None,
                },
                Decision::Dropped { operation: 5 },
                activity(6, "ship"),
                receive(7, Channel::Message, "payment"),
                timer(8, 604_800),
            ],
        );
    let ship = Task {
        operation: 6,
        generation: 1,
        unit: 13,
        name: "ship".into(),
        options: ActivityOptions::new(Class::Idempotent),
        attempt: 3,
        lost: 0,
        started: None,
        not_before: at(200_000),
        scheduled: at(4),
        last_failure: Some("no answer".into()),
    };
    commit(
        store,
        run,
        Changes {
            units: units.0,
            taken: vec![1, 2],
            tasks: vec![TaskChange::Put(ship)],
            timers: vec![TimerChange::Put {
                operation: 8,
                deadline: at(604_800),
            }],
            attempts: vec![
                failed(1, 1, "connection refused", 1),
                failed(6, 1, "no answer", 5),
                failed(6, 2, EVIL, 6),
            ],
            awaited: Some(Awaited::of([(Channel::Message, "payment")])),
            stamp: at(4),
            next_operation: Some(9),
            ..Changes::default()
        },
    );
    let other = Observation::MessageArrived(told(0, "note", r#""\u0007 and a note""#));
    deliver(store, run, other, 10);
}

pub(crate) fn deliver(store: &dyn Store, run: &str, observation: Observation, seconds: u64) {
    let deliver = Deliver {
        stub: None,
        run: key(run),
        observation,
        at: at(seconds),
        tasks: Vec::new(),
        key: None,
    };
    wait(|ack| store.deliver(deliver, ack)).unwrap();
}

/// A run that has ended with a message that it did not take.
fn done(store: &dyn Store) {
    let run = "order-43";
    create(store, run, "order");
    let message = |name: &str| Observation::MessageArrived(told(0, name, "1"));
    deliver(store, run, message("late"), 1);
    let end = Decision::Completed {
        value: json(r#"{"paid":1.50}"#),
        open: Vec::new(),
    };
    commit(
        store,
        run,
        Changes {
            units: Units::of(run, "order", vec![end]).0,
            status: Some(Status::Completed),
            stamp: at(90_000),
            ..Changes::default()
        },
    );
}

/// A run that a program could not go on with, whose words are not to be trusted.
fn blocked(store: &dyn Store) {
    let run = "order-44";
    create(store, run, EVIL);
    let record = BlockedRecord {
        artifact: EVIL.into(),
        unfit: true,
        code: "H203".into(),
        text: format!("its history does not fit:\n  {EVIL}"),
        details: Value::null(),
        at: at(9),
    };
    commit(
        store,
        run,
        Changes {
            units: Units::of(run, EVIL, vec![activity(1, "charge_card")]).0,
            blocked: Some(BlockedChange::Put(record)),
            stamp: at(9),
            next_operation: Some(2),
            ..Changes::default()
        },
    );
}

/// All runs, and what the program could run that had the store open last.
pub(crate) fn play(store: &dyn Store) {
    order(store);
    done(store);
    blocked(store);
    create(store, "shop/cart-1", "cart");
    let sends = |operation, run: &str| Decision::SendRequested {
        operation,
        run: run.parse().unwrap(),
        channel: Channel::Message,
        name: "bought".into(),
        payload: json("7"),
        site: None,
    };
    let sent = serde_json::json!({ "number": 9, "at": at(1), "duplicate": false });
    let sent: Receipt = serde_json::from_value(sent).unwrap();
    let filled = |operation, result| Observation::SlotFilled { operation, result };
    let missing = SendFailure::RunNotFound {
        run: "cart-3".parse().unwrap(),
    };
    let fulfils = |operation, reference: &str| Decision::FulfilRequested {
        operation,
        reference: reference.parse().unwrap(),
        stub: "weigh".into(),
        value: json("7"),
        site: None,
    };
    let no_stub = FulfilFailure::NotAStub {
        reference: "cart-1~3".parse().unwrap(),
    };
    let units = Units::of("shop/cart-1", "cart", vec![sends(1, "cart-2")])
        .and(
            1,
            filled(1, SlotResult::Sent(sent)),
            vec![sends(2, "cart-3")],
        )
        .and(
            2,
            filled(2, SlotResult::NotSent(missing)),
            vec![
                receive(3, Channel::Message, "payment"),
                Decision::StubOffered {
                    operation: 4,
                    name: "review".into(),
                    input: json("\"a lamp\""),
                    site: None,
                },
                Decision::Emitted {
                    stream: "output".into(),
                    number: 1,
                    value: json("{\"page\":1}"),
                    site: None,
                },
                fulfils(5, "cart-1~3"),
            ],
        )
        .and(3, filled(5, SlotResult::NotFulfilled(no_stub)), vec![]);
    commit(
        store,
        "shop/cart-1",
        Changes {
            units: units.0,
            awaited: Some(Awaited::of([(Channel::Message, "payment")])),
            offers: vec![OfferChange::Open {
                operation: 4,
                unit: 5,
                name: "review".into(),
                at: at(2),
            }],
            views: vec![ViewChange::Put(ViewRecord {
                name: "status".into(),
                value: json(r#"{"stage":"asks"}"#),
                data: "shop::Status".into(),
                artifact: "monday".into(),
                at: at(2),
                event: 8,
            })],
            stamp: at(3),
            next_operation: Some(6),
            ..Changes::default()
        },
    );
    let manifest = r#"{
        "format": 1, "artifact": "monday", "software": "perennial 0.1.0", "semantics": 1, "activities": [],
        "workflows": [{"name": "order", "publishes_others": false, "receives": [
            {"channel": "message", "name": "approval", "type": {"name": "bool"}},
            {"channel": "message", "name": "payment", "type": {"name": "shop::Payment", "schema": {
                "type": "object",
                "properties": {"cents": {"type": "integer"}, "from": {"type": "string"}, "it's": {"type": "boolean"}}
            }}},
            {"channel": "signal", "name": "hurry", "type": {"name": "()"}}
        ]}, {"name": "cart", "publishes_others": false, "offers": [
            {"name": "review", "result": {"name": "bool"}}
        ]}]
    }"#;
    let program = ProgramRecord {
        artifact: "monday".into(),
        manifest: json(manifest),
        at: at(0),
    };
    wait(|ack| store.record_program(program, ack)).unwrap();
}
