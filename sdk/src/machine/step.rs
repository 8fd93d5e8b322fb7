//! What a poll led to.

use super::Shown;
use crate::history::{CallSite, Unit};
use crate::{ActivityOptions, Timestamp};

/// What one observation led to. The unit is to be committed; once it is durable, the rest is carried out.
#[derive(Debug)]
pub struct Step {
    /// The observation and the decisions, for the history.
    pub unit: Unit,
    /// Activities that the unit schedules, with their options, in order. Name and input are in the unit.
    pub scheduled: Vec<Scheduled>,
    /// Timers that the unit drops.
    pub stopped_timers: Vec<(u64, Timestamp)>,
    /// Stubs that the unit offers, and offers that it closes, in order. An offer that the unit's own observation
    /// fulfils is over with that, and is not among them.
    pub offers: Vec<Offered>,
    /// What the workflow logged.
    pub logs: Vec<LogLine>,
    /// Views that the unit has changed, as it leaves them: at most [`MAX_VIEWS`](crate::MAX_VIEWS).
    pub views: Vec<Shown>,
    /// Whether the generation ended.
    pub finished: bool,
}

/// What a recorded unit led to that is in no history.
#[derive(Debug)]
pub struct Retold {
    /// Activities that the unit schedules, with their options, in order.
    pub scheduled: Vec<Scheduled>,
    /// Stubs that the unit offers, and offers that it closes, in order. An offer that the unit's own observation
    /// fulfils is over with that, and is not among them.
    pub offers: Vec<Offered>,
}

/// An activity that a unit schedules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheduled {
    /// The operation's number.
    pub operation: u64,
    /// Where in the unit's decisions it stands.
    pub decision: usize,
    /// What the activity declares, and the call set.
    pub options: ActivityOptions,
}

/// What becomes of the offer of a stub in a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It is open from now on. Its input is in the unit.
    Opened {
        /// The operation's number.
        operation: u64,
        /// The stub's name.
        name: &'static str,
    },
    /// It is waited for until then, and no longer.
    Limited {
        /// The operation's number.
        operation: u64,
        /// When its timer fires.
        deadline: Timestamp,
    },
    /// Nobody waits for it any more.
    Closed {
        /// The operation's number.
        operation: u64,
    },
}

/// A line that a workflow logged. It appears once, and not when the workflow is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The text.
    pub message: String,
    /// Where in the source.
    pub site: CallSite,
}
