//! A run as its shard holds it.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use perennial::history::Observation;
use perennial::machine::{LogLine, Machine};
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use rustc_hash::FxBuildHasher;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::ByRun;
use super::inputs::Inputs;
use super::message::{Ended, StartReply};
use super::update::{self, Decided};
use crate::activity::Slot;
use crate::error::Unavailable;
use crate::store::{Awaited, Changes, Fence, Queued, Task};

/// The runs of a shard, each in a piece of memory of its own: a table has room for more than are in it.
pub(super) type Runs = HashMap<RunKey, Box<Run>, ByRun>;

/// A run in memory.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) key: RunKey,
    pub(super) stage: Stage,
    pub(super) workflow: String,
    pub(super) generation: u64,
    /// The number of the generation's first operation. What an earlier one has left behind is late.
    pub(super) first_operation: u64,
    /// The last event that was handed to the store.
    pub(super) sequence: u64,
    pub(super) fence: Fence,
    /// The last stamp in its history or queue.
    pub(super) stamp: Timestamp,
    /// The stamp of what the machine was told last. What waits in the queue may have later ones.
    pub(super) told: Timestamp,
    /// `None` when nothing had to be told to it yet, or it is blocked, or it has ended.
    pub(super) machine: Option<Box<Machine>>,
    /// Open activities.
    pub(super) tasks: HashMap<u64, Box<Open>, FxBuildHasher>,
    /// Timers that have not fired, in the order in which they are due.
    pub(super) timers: BTreeSet<(Timestamp, u64)>,
    /// Timers up to here are due, whatever the clock says.
    pub(super) due: Timestamp,
    /// What the machine is to be told.
    pub(super) inputs: Inputs,
    /// What it waits to be told, as the store is told with the next commit.
    pub(super) awaited: Awaited,
    /// What the next commit changes beside the units.
    pub(super) changes: Changes,
    /// What is to happen once the next commit is durable.
    pub(super) after: Vec<After>,
    /// What is to happen once the commit that is under way is durable.
    pub(super) in_flight: Option<Vec<After>>,
    /// Why this program cannot go on with it.
    pub(super) blocked: Option<BlockedNow>,
    /// Since when it is told nothing, because somebody has paused it.
    pub(super) paused: Option<Timestamp>,
    /// The store has views of it.
    pub(super) shows: bool,
    /// An earlier try was blocked, and the record of that has not been cleared.
    pub(super) was_blocked: bool,
    /// The generation has ended.
    pub(super) ended: bool,
    /// When it did.
    pub(super) finished: Timestamp,
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is being made, or claimed.
    Opening,
    /// Its machine is being fed its history, stands before the event `from`, and is next fed so many units.
    Replaying { from: u64, slice: usize },
    /// It takes what comes.
    Ready,
}

/// Something that the machine is to be told.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) observation: Observation,
    /// Its row in the queue, and the stamp of that.
    pub(super) row: Option<(u64, Timestamp)>,
}

impl Input {
    /// Something that is only in memory.
    pub(super) fn new(observation: Observation) -> Self {
        Self {
            observation,
            row: None,
        }
    }

    /// A row of the run's queue.
    pub(super) fn of(row: Queued) -> Self {
        Self {
            observation: row.observation,
            row: Some((row.arrival, row.at)),
        }
    }
}

/// The operation that an observation settles.
pub(super) fn settles(observation: &Observation) -> Option<u64> {
    match observation {
        Observation::ActivityCompleted { operation, .. }
        | Observation::ActivityFailed { operation, .. } => Some(*operation),
        _ => None,
    }
}

/// An open activity.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) task: Task,
    /// Its input, where it has been read.
    pub(super) input: Option<Value>,
    pub(super) progress: Progress,
    /// Stops the attempt that runs.
    pub(super) attempt: Option<AbortHandle>,
}

impl Open {
    /// An activity about whose attempts nothing has been done.
    pub(super) fn new(task: Task, input: Option<Value>, progress: Progress) -> Self {
        Self {
            task,
            input,
            progress,
            attempt: None,
        }
    }
}

/// Whoever forgets an activity, because the engine stops or the run has another owner now, stops it too: the
/// next owner runs it again.
impl Drop for Open {
    fn drop(&mut self) {
        if let Some(attempt) = &self.attempt {
            attempt.abort();
        }
    }
}

/// How far an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing has been done about it.
    Idle,
    /// It waits for its time or for a slot.
    Waiting,
    /// The commit that it needs is under way.
    Committing,
    /// It runs.
    Running,
    /// It has ended, and its result waits to be committed.
    Settling,
}

/// What is to happen once a commit is durable (S4).
#[derive(Debug)]
pub(super) enum After {
    /// An attempt begins.
    Dispatch { operation: u64, slot: Slot },
    /// An attempt waits for a slot.
    WaitForSlot { operation: u64 },
    /// An attempt waits for its time.
    RetryAt { operation: u64, at: Timestamp },
    /// A timer waits for its deadline.
    Timer {
        operation: u64,
        deadline: Timestamp,
        /// When, on the monotonic clock; `None`: later than that can count.
        rings: Option<Instant>,
    },
    /// Those who follow the run look at what it has given out.
    News,
    /// Those who wait for a call of this stub are told.
    Offered(&'static str),
    /// Those who wait for what the run says to what it was given are told that it has dropped a call.
    Withdrawn,
    /// The workflow's lines are shown.
    Logs(Vec<LogLine>),
    /// Who started the run is told.
    Started {
        reply: oneshot::Sender<Result<StartReply, Unavailable>>,
        answer: StartReply,
    },
    /// Who has asked for a change is answered.
    Updated(Decided),
    /// Those who wait for the end are told.
    Ended(Ended),
    /// Those who wait for the end are told that it does not come.
    Blocked,
    /// Those who asked for a try are told that the run goes on.
    Unblocked,
    /// Who paused it is told.
    Paused,
    /// Who let it go on is told, and it is told what has arrived.
    Resumed,
}

/// Why this program cannot go on with a run.
#[derive(Clone, Debug)]
pub(super) struct BlockedNow {
    /// Whether it never can, so that the next try is the same (S16).
    pub(super) unfit: bool,
    pub(super) code: String,
    pub(super) text: String,
}

impl Run {
    /// A run of which nothing is known but its name.
    pub(super) fn opening(key: RunKey) -> Self {
        Self {
            key,
            stage: Stage::Opening,
            workflow: String::new(),
            generation: 1,
            first_operation: 1,
            sequence: 0,
            fence: Fence::default(),
            stamp: Timestamp::default(),
            told: Timestamp::default(),
            machine: None,
            tasks: HashMap::default(),
            timers: BTreeSet::new(),
            due: Timestamp::default(),
            inputs: Inputs::default(),
            awaited: Awaited::default(),
            changes: Changes::default(),
            after: Vec::new(),
            in_flight: None,
            blocked: None,
            paused: None,
            shows: false,
            was_blocked: false,
            ended: false,
            finished: Timestamp::default(),
        }
    }

    /// Whether all that has become of it is in the store. Attempts may be under way, and there may be messages and
    /// signals that it does not wait for.
    pub(super) fn is_resting(&self) -> bool {
        self.stage == Stage::Ready
            && self.in_flight.is_none()
            && self.inputs.is_quiet()
            && self.after.is_empty()
            && !self.has_changes()
    }

    /// Whether the next commit has something beside units.
    pub(super) fn has_changes(&self) -> bool {
        let Changes {
            units,
            taken,
            enqueue,
            slots,
            tasks,
            timers,
            attempts,
            views,
            status,
            blocked,
            pause,
            ..
        } = &self.changes;
        !(units.is_empty()
            && taken.is_empty()
            && enqueue.is_empty()
            && slots.is_empty()
            && tasks.is_empty()
            && timers.is_empty()
            && attempts.is_empty()
            && views.is_empty()
            && status.is_none()
            && blocked.is_none()
            && pause.is_none())
    }

    /// Whether those who wait for its end are answered by a commit that is not durable yet.
    pub(super) fn is_about_to_answer(&self) -> bool {
        let mut after = self.in_flight.iter().flatten().chain(&self.after);
        after.any(|after| matches!(after, After::Ended(_) | After::Blocked))
    }

    /// Answers who started the run, where the commit that would have done it has come to nothing.
    pub(super) fn answer_start(&mut self, answer: &Result<StartReply, Unavailable>) {
        let mut in_flight = self.in_flight.take().unwrap_or_default();
        for after in in_flight.extract_if(.., |after| matches!(after, After::Started { .. })) {
            if let After::Started { reply, .. } = after {
                let _ = reply.send(answer.clone());
            }
        }
        if let Err(error) = answer {
            update::lose(&mut in_flight, error);
        }
    }

    /// Whether nobody waits for this operation any more.
    pub(super) fn is_late(&self, operation: u64) -> bool {
        self.ended || operation < self.first_operation
    }

    /// How many attempts are under way.
    pub(super) fn attempts(&self) -> usize {
        self.tasks
            .values()
            .filter(|open| matches!(open.progress, Progress::Running | Progress::Committing))
            .count()
    }
}
