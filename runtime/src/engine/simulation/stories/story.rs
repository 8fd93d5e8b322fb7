//! What happens, as data: made up, made shorter, printed.

use std::fmt;

use proptest::prelude::*;

use super::super::process::SHARDS;
use super::plan::{self, Step};

/// How many runs a story has.
pub(super) const RUNS: usize = 2;

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    /// A client starts a run, or starts it again.
    Start { run: usize },
    /// Somebody sends a message, with an idempotency key or without.
    Send { run: usize, name: u8, key: bool },
    /// The same send is made again, the so-manieth of those with a key.
    Again { send: usize },
    /// Somebody completes one of the operations that a run offers at the moment.
    Fulfil { run: usize, offer: usize },
    /// The same value is given again, that of the so-manieth who did.
    FulfilAgain { fulfil: usize },
    /// Another value is given for the same.
    FulfilOtherwise { fulfil: usize },
    /// A signal, which nobody waits for.
    Signal { run: usize },
    /// Somebody pauses a run.
    Pause { run: usize },
    /// Somebody lets a run go on.
    Resume { run: usize },
    /// A shard reads so many of its messages.
    Read { shard: usize, messages: usize },
    /// The store does so many of the writes that it was handed.
    Write { writes: usize },
    /// Time passes.
    Pass { milliseconds: u64 },
    /// The clock of the machine is set to another time; nothing passes.
    Jump { milliseconds: i64 },
    /// The process ends. Of the writes that the store has not done so many are done all the same.
    Crash { done: usize },
    /// The store does not know what has become of its next write.
    Unknown { done: bool },
    /// A new process, if there is none.
    Open,
}

/// A story.
#[derive(Clone, PartialEq)]
pub(super) struct Story {
    pub(super) plans: Vec<Vec<Step>>,
    /// Whether runs stay in memory while nothing happens to them.
    pub(super) warm: bool,
    pub(super) events: Vec<Event>,
}

impl Story {
    /// Whether a text has a story in it.
    pub(super) fn is_readable(text: &str) -> bool {
        text.contains("run 0 does [")
    }
}

impl fmt::Debug for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (run, plan) in self.plans.iter().enumerate() {
            writeln!(f, "run {run} does {plan:?}")?;
        }
        let runs = if self.warm { "stay in" } else { "leave" };
        writeln!(f, "runs {runs} the memory while nothing happens to them")?;
        self.events
            .iter()
            .try_for_each(|event| writeln!(f, "  {event:?}"))
    }
}

pub(super) fn any() -> impl Strategy<Value = Story> {
    let run = 0..RUNS;
    let event = prop_oneof![
        2 => run.clone().prop_map(|run| Event::Start { run }),
        6 => (run.clone(), 0_u8..2, prop::bool::ANY)
            .prop_map(|(run, name, key)| Event::Send { run, name, key }),
        2 => (0_usize..8).prop_map(|send| Event::Again { send }),
        5 => (run.clone(), 0_usize..3).prop_map(|(run, offer)| Event::Fulfil { run, offer }),
        2 => (0_usize..6).prop_map(|fulfil| Event::FulfilAgain { fulfil }),
        2 => (0_usize..6).prop_map(|fulfil| Event::FulfilOtherwise { fulfil }),
        1 => run.clone().prop_map(|run| Event::Signal { run }),
        2 => run.clone().prop_map(|run| Event::Pause { run }),
        2 => run.prop_map(|run| Event::Resume { run }),
        8 => (0..SHARDS, 1_usize..6)
            .prop_map(|(shard, messages)| Event::Read { shard, messages }),
        8 => (1_usize..4).prop_map(|writes| Event::Write { writes }),
        4 => (0_u64..50).prop_map(|milliseconds| Event::Pass { milliseconds }),
        1 => (-100_i64..100).prop_map(|milliseconds| Event::Jump { milliseconds }),
        2 => (0_usize..4).prop_map(|done| Event::Crash { done }),
        1 => prop::bool::ANY.prop_map(|done| Event::Unknown { done }),
        3 => Just(Event::Open),
    ];
    let plans = prop::collection::vec(plan::any(), RUNS);
    let events = prop::collection::vec(event, 0..60);
    (plans, prop::bool::ANY, events).prop_map(|(plans, warm, events)| Story {
        plans,
        warm,
        events,
    })
}
