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
    /// What the workflow logged.
    pub logs: Vec<LogLine>,
    /// Views that the unit has changed, as it leaves them: at most [`MAX_VIEWS`](crate::MAX_VIEWS).
    pub views: Vec<Shown>,
    /// Whether the generation ended.
    pub finished: bool,
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

/// A line that a workflow logged. It appears once, and not when the workflow is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The text.
    pub message: String,
    /// Where in the source.
    pub site: CallSite,
}
