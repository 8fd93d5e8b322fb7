//! The scenarios: which runs there are, and what those outside do.

use perennial::history::Channel;
use perennial::value::Value;
use perennial::{
    Message, MigrationDefinition, MigrationFn, Namespace, RunId, RunKey, Signal, Stub, StubFn,
    WorkflowDefinition, WorkflowFn,
};
use serde::Serialize;

use super::super::watch::inject;
use super::acts::{Act, Told};
use super::workflows::*;

/// See the module.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// What is done, in that order.
    pub(super) acts: Vec<Act>,
}

fn id(run: &str) -> RunId {
    RunId::new(run).unwrap_or_else(|error| panic!("{error}"))
}

fn key(run: &str) -> RunKey {
    RunKey::new(Namespace::default(), id(run))
}

fn value(value: impl Serialize) -> Value {
    Value::encode(&value).unwrap_or_else(|error| panic!("{error}"))
}

fn start<M, F: WorkflowFn<M>>(run: &str, workflow: F, input: impl Serialize) -> Act {
    start_with(run, workflow, input, Vec::new())
}

/// A start with messages.
fn start_with<M, F: WorkflowFn<M>>(
    run: &str,
    _: F,
    input: impl Serialize,
    messages: Vec<Told>,
) -> Act {
    Act::Start {
        run: key(run),
        workflow: WorkflowDefinition::of::<F::W>(),
        input: value(input),
        messages,
    }
}

fn message(message: Message<u64>, says: u64, key: &str) -> Told {
    Told {
        channel: Channel::Message,
        name: message.name(),
        payload: value(says),
        key: key.to_owned(),
    }
}

fn send(run: &str, name: Message<u64>, says: u64, idempotency_key: &str) -> Act {
    Act::Tell {
        run: key(run),
        told: message(name, says, idempotency_key),
    }
}

fn signal(run: &str, signal: Signal<u64>, says: u64) -> Act {
    Act::Tell {
        run: key(run),
        told: Told {
            channel: Channel::Signal,
            name: signal.name(),
            payload: value(says),
            key: signal.name().to_owned(),
        },
    }
}

fn fulfil<M, F: StubFn<M>>(run: &str, _: F, call: usize, says: u64) -> Act {
    Act::Fulfil {
        run: key(run),
        stub: <F::S as Stub>::NAME,
        call,
        value: value(says),
    }
}

fn ask(run: &str, by: u64, idempotency_key: &str) -> Act {
    Act::Ask {
        run: key(run),
        update: RAISE.name(),
        input: value(by),
        key: idempotency_key.to_owned(),
    }
}

/// A request: a call of a stub is completed, and what the run says then is waited for.
fn request<M, F: StubFn<M>>(run: &str, stub: F, call: usize, says: u64) -> [Act; 2] {
    let hear = Act::Hear {
        run: key(run),
        stub: <F::S as Stub>::NAME,
        call,
    };
    [fulfil(run, stub, call, says), hear]
}

/// A pause, once the run has called so many stubs.
fn pause(run: &str, calls: usize) -> Act {
    Act::Pause {
        run: key(run),
        calls,
    }
}

fn resume(run: &str) -> Act {
    Act::Resume { run: key(run) }
}

fn fork(run: &str, to: &str) -> Act {
    Act::Fork {
        run: key(run),
        to: id(to),
    }
}

fn migrate<X, F: MigrationFn<X>>(run: &str, _: F, to: &str, waits: Message<u64>) -> Act {
    Act::Move {
        run: key(run),
        migration: MigrationDefinition::of::<F::M>(),
        to: id(to),
        waits: waits.name(),
    }
}

/// All of them.
pub(super) fn all() -> Vec<Scenario> {
    let scenario = |name, acts| Scenario { name, acts };
    vec![
        scenario("activities", vec![start("works", works, ())]),
        scenario("a fan", vec![start("fans", fans, ())]),
        scenario("timers", vec![start("naps", naps, ())]),
        scenario(
            "messages",
            vec![
                start("listens", listens, ()),
                send("listens", LEFT, 1, "a"),
                send("listens", LEFT, 1, "a"),
                send("listens", LEFT, 2, "b"),
                send("listens", RIGHT, 3, "c"),
                send("listens", RIGHT, 4, "unread"),
                send("listens", LEFT, 5, "d"),
            ],
        ),
        scenario(
            "a start with messages",
            vec![
                start_with(
                    "listens",
                    listens,
                    (),
                    vec![message(LEFT, 1, "a"), message(RIGHT, 2, "b")],
                ),
                send("listens", RIGHT, 2, "b"),
                send("listens", LEFT, 3, "c"),
                send("listens", LEFT, 4, "d"),
            ],
        ),
        scenario(
            "signals",
            vec![
                start("heeds", heeds, ()),
                signal("heeds", GO, 1),
                signal("heeds", HALT, 2),
            ],
        ),
        scenario(
            "what runs send",
            vec![
                start("answers", answers, id("asks")),
                start("asks", asks, id("answers")),
            ],
        ),
        scenario(
            "offers",
            vec![
                start("confers", confers, ()),
                fulfil("confers", inject, 0, 10),
                fulfil("confers", inject, 1, 11),
                fulfil("confers", inject, 2, 12),
                fulfil("confers", review, 2, 20),
            ],
        ),
        scenario(
            "what runs give",
            vec![
                start("gives", gives, id("wants")),
                start("wants", wants, id("gives")),
            ],
        ),
        scenario(
            "updates",
            vec![
                start("yields", yields, ()),
                ask("yields", 2, "a"),
                ask("yields", 101, "too much"),
                ask("yields", 5, "b"),
            ],
        ),
        scenario(
            "requests",
            [
                vec![start("consults", consults, ())],
                request("consults", consult, 0, 5).to_vec(),
                request("consults", consult, 1, 6).to_vec(),
                request("consults", consult, 2, 7).to_vec(),
            ]
            .concat(),
        ),
        scenario(
            "pauses",
            vec![
                start("rests", rests, ()),
                pause("rests", 0),
                send("rests", LEFT, 1, "a"),
                resume("rests"),
                send("rests", LEFT, 2, "b"),
                pause("rests", 1),
                fulfil("rests", review, 0, 3),
                resume("rests"),
                send("rests", RIGHT, 5, "c"),
            ],
        ),
        scenario(
            "a fork",
            vec![
                start("parts", parts, ()),
                fork("parts", "parted"),
                send("parts", LEFT, 1, "a"),
                send("parted", LEFT, 2, "a"),
                fulfil("parted", review, 0, 4),
                fulfil("parts", review, 0, 3),
            ],
        ),
        scenario(
            "streams",
            vec![start("tells", tells, ()), send("tells", LEFT, 7, "a")],
        ),
        scenario(
            "a migration",
            vec![
                start("moves", moves, ()),
                migrate("moves", onward, "moved", LEFT),
                send("moved", RIGHT, 9, "a"),
            ],
        ),
        scenario(
            "orders",
            vec![
                start("books", books, ()),
                start_with(
                    "orders",
                    orders,
                    id("books"),
                    vec![message(LEFT, 100, "amount")],
                ),
                fulfil("orders", inject, 0, 30),
                fulfil("orders", review, 0, 40),
            ],
        ),
    ]
}
