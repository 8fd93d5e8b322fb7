//! What the harness and the program that runs the mutants tell each other. Both have this file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The exit code of the program when a mutant computes without end.
pub(crate) const ENDLESS: i32 = 17;

/// A workflow, and the runs of it that are recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recordings {
    pub(crate) workflow: String,
    /// How activities answer that are no others' than this workflow's.
    pub(crate) answers: BTreeMap<String, Value>,
    pub(crate) runs: Vec<Run>,
}

/// A run that is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) input: Value,
    /// What is not as it mostly is. Of two that speak of one call, the later one holds.
    pub(crate) answers: Vec<Answer>,
    /// What the run is told, in its order.
    pub(crate) told: Vec<Told>,
}

/// A message or a signal that a run is told, or a value for the stub that it offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// So many milliseconds after it has begun.
    pub(crate) after: u64,
    pub(crate) how: How,
    pub(crate) name: String,
    pub(crate) payload: Value,
}

/// What a run is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum How {
    Message,
    Signal,
    /// For the oldest offer of the stub that is open; where there is none it is for nobody.
    Value,
}

/// How an activity answers in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) activity: String,
    /// Which of its calls, from 1; `None`: each.
    pub(crate) call: Option<usize>,
    pub(crate) does: Does,
}

/// What an activity does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Does {
    Answers(Value),
    Rejects(Value),
    /// Until no attempt is left.
    Fails(String),
    TimesOut,
    /// So many milliseconds, in place of a second.
    Takes(u64),
}

/// What the program says, in a line each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Line {
    /// The original has recorded a run.
    Recorded {
        workflow: String,
        run: String,
        /// The number of the last event of each unit.
        units: Vec<u64>,
        /// The history, for people.
        text: String,
    },
    /// The original could not.
    NotRecorded {
        workflow: String,
        run: String,
        why: String,
    },
    /// A mutant is given a recorded run. What follows may end the program: a stack that overflows cannot be caught.
    Begun { workflow: String, mutant: String },
    /// It has been given it.
    Replayed {
        workflow: String,
        mutant: String,
        run: String,
        /// The first decision that differs, by the mutant's own.
        differs: Option<Differs>,
        /// What the replay of the first unit came to, of the first two, and so on.
        replays: Vec<Option<Refused>>,
        /// Where it was replayed and then goes on otherwise than by itself: after how many units, and how.
        astray: Vec<String>,
    },
}

/// Where what a mutant decides is not what was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Differs {
    /// In which unit, from 0.
    pub(crate) unit: usize,
    pub(crate) event: u64,
    /// What both sides have there.
    pub(crate) what: String,
}

/// A history that was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Refused {
    pub(crate) code: String,
    pub(crate) event: u64,
    pub(crate) text: String,
}
