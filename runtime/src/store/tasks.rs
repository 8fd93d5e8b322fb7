//! What a run has under way: activities, what became of their attempts, and timers.

use perennial::value::Value;
use perennial::{ActivityOptions, RunKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::contract::Owner;

/// An activity that has to run: kept from the commit that schedules it to the one that takes its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The operation's number.
    pub operation: u64,
    /// The generation that scheduled it.
    pub generation: u64,
    /// The number of the first event of the unit that scheduled it, which holds its input.
    pub unit: u64,
    /// The activity's name.
    pub name: String,
    /// What it declares, and the call set.
    pub options: ActivityOptions,
    /// The number of the current attempt, from 1.
    pub attempt: u32,
    /// How many attempts before it were lost with their processes. They do not count against the budget.
    pub lost: u32,
    /// Who has begun, or may have begun, the current attempt (S20).
    pub started: Option<Owner>,
    /// The current attempt does not begin before.
    pub not_before: Timestamp,
    /// When it was scheduled.
    pub scheduled: Timestamp,
    /// What the attempt before said.
    pub last_failure: Option<String>,
}

/// A change to a run's tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskChange {
    /// A new task, or a new state of one.
    Put(Task),
    /// The operation's task is done.
    Remove(u64),
}

/// A change to a run's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerChange {
    /// A new timer.
    Put {
        /// The operation's number.
        operation: u64,
        /// When it fires.
        deadline: Timestamp,
    },
    /// A timer that fired or was dropped.
    Remove {
        /// The operation's number.
        operation: u64,
        /// The deadline that it was put with.
        deadline: Timestamp,
    },
}

/// A timer of some run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueTimer {
    /// When it fires.
    pub deadline: Timestamp,
    /// The run.
    pub run: RunKey,
    /// The operation's number.
    pub operation: u64,
}

/// What became of an attempt that brought the run no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// The operation's number.
    pub operation: u64,
    /// The attempt's number, from 1; 0 where the task was gone when its result was put here.
    pub attempt: u32,
    /// What became of it.
    pub outcome: AttemptOutcome,
    /// When that was recorded.
    pub at: Timestamp,
}

/// How an attempt ended that brought the run no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttemptOutcome {
    /// It returned a transient failure.
    Failed {
        /// What it said.
        error: String,
    },
    /// It panicked.
    Panicked {
        /// What it said.
        message: String,
    },
    /// It took longer than an attempt may.
    DeadlineExceeded,
    /// Its process ended before it did.
    Lost,
    /// It came to a result when the run had ended without it (S12).
    Late {
        /// The result.
        result: Value,
    },
}
