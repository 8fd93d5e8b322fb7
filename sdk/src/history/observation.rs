//! What the world causes.

use serde::{Deserialize, Serialize};

use super::decision::OpenOperation;
use super::event::FRAME;
use crate::value::Value;
use crate::{FulfilFailure, Namespace, Receipt, RunEnd, RunId, SendFailure};

/// What the world caused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Observation {
    /// The run began. Always the first event.
    Started(Started),
    /// An activity came to a result.
    ActivityCompleted {
        /// The operation's number.
        operation: u64,
        /// The result.
        result: Value,
    },
    /// An activity came to an end without a result.
    ActivityFailed {
        /// The operation's number.
        operation: u64,
        /// How it ended.
        failure: ActivityFailure,
    },
    /// A timer reached its deadline.
    TimerFired {
        /// The operation's number.
        operation: u64,
    },
    /// A message came in. It is pending until a wait of its name takes it (S25).
    MessageArrived(Told),
    /// A signal came in, and reached the waits of its name that were open (S25, M54).
    SignalArrived(Told),
    /// Somebody outside has fulfilled a stub that the run had offered (S25).
    StubFulfilled {
        /// The operation's number.
        operation: u64,
        /// What it was fulfilled with.
        value: Value,
        /// The idempotency key of who did it, where one was given (S4).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// Somebody outside has asked for a change, and the run has accepted it: its validator had nothing against it. What
    /// the run has answered is the first decision of the unit (S27).
    UpdateAccepted {
        /// The name of the update.
        name: String,
        /// What was asked.
        input: Value,
        /// The idempotency key of who has asked, where one was given (S4).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// A decision that only its commit could give a result to has got it (S3). It comes before all else that the run
    /// is told.
    SlotFilled {
        /// The operation's number.
        operation: u64,
        /// What it came to.
        result: SlotResult,
    },
    /// The run was moved to a new one, which goes on in its place. Nothing follows in this generation (S38).
    Migrated(Migrated),
}

impl Observation {
    /// The most bytes that it has when it is encoded.
    pub(crate) fn size(&self) -> usize {
        FRAME
            + match self {
                Self::Started(started) => started.size(),
                Self::ActivityCompleted { result, .. } => result.as_json().len(),
                Self::ActivityFailed { failure, .. } => match failure {
                    ActivityFailure::Rejected { value } => value.as_json().len(),
                    ActivityFailure::RetriesExhausted { last, .. } => last.len(),
                    ActivityFailure::TimedOut
                    | ActivityFailure::Cancelled
                    | ActivityFailure::TooLarge { .. } => 0,
                },
                Self::TimerFired { .. } => 0,
                Self::MessageArrived(told) | Self::SignalArrived(told) => told.size(),
                Self::StubFulfilled { value, key, .. } => {
                    value.as_json().len() + key.as_ref().map_or(0, String::len)
                }
                Self::UpdateAccepted { name, input, key } => {
                    name.len() + input.as_json().len() + key.as_ref().map_or(0, String::len)
                }
                Self::SlotFilled { result, .. } => result.size(),
                Self::Migrated(migrated) => migrated.size(),
            }
    }

    /// Whether it ends the generation: such an end is imposed, the code has no say in it (S11).
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Migrated(_))
    }

    /// The number of the operation of which it tells how that went on, if it tells of one.
    #[must_use]
    pub fn operation(&self) -> Option<u64> {
        match self {
            Self::ActivityCompleted { operation, .. }
            | Self::ActivityFailed { operation, .. }
            | Self::TimerFired { operation }
            | Self::StubFulfilled { operation, .. }
            | Self::SlotFilled { operation, .. } => Some(*operation),
            Self::Started(_)
            | Self::MessageArrived(_)
            | Self::SignalArrived(_)
            | Self::UpdateAccepted { .. }
            | Self::Migrated(_) => None,
        }
    }
}

/// How a run began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The name of the workflow.
    pub workflow: String,
    /// Its input.
    pub input: Value,
    /// The replay semantics of the engine that began it ([`SEMANTICS`](crate::history::SEMANTICS), S15).
    pub semantics: u32,
    /// The program that began it.
    pub artifact: String,
    /// The namespace of the run.
    pub namespace: Namespace,
    /// The id of the run.
    pub run: RunId,
    /// Which generation of the run this is; the first is 1.
    pub generation: u64,
    /// The number that the generation's first operation gets.
    pub first_operation: u64,
    /// The label of the workflow, `#[workflow(version = 3)]`: recorded and shown, never compared (S37).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The run that was migrated to this one (S38).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrated_from: Option<RunId>,
    /// The streams in which earlier generations of the run have given out items: numbers go on from there (S28).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamEnd>,
    /// The runs of whose histories this one has its beginning: a run that is forked from one that was forked itself has
    /// several, in the order of their events. Up to those events the code knows the run by their ids, since what it made
    /// of them is compared. What they were told, and had not taken, is nothing to this run (M43).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forked_from: Vec<ForkedFrom>,
}

/// A run of whose history another one has its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The run, in the same namespace.
    pub run: RunId,
    /// The last event that is the same in both.
    pub last: u64,
}

/// How far a stream of a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEnd {
    /// The name of the stream.
    pub name: String,
    /// The number of its last item.
    pub last: u64,
}

impl StreamEnd {
    fn size(&self) -> usize {
        32 + self.name.len()
    }
}

impl Started {
    /// The last event that the run has from another one, of which it is a fork; 0: it is none.
    #[must_use]
    pub fn inherited(&self) -> u64 {
        self.forked_from.last().map_or(0, |from| from.last)
    }

    fn size(&self) -> usize {
        let forks = self.forked_from.iter();
        self.streams.iter().map(StreamEnd::size).sum::<usize>()
            + forks
                .map(|from| 32 + from.run.as_str().len())
                .sum::<usize>()
            + self.workflow.len()
            + self.input.as_json().len()
            + self.artifact.len()
            + self.namespace.as_str().len()
            + self.run.as_str().len()
            + self
                .migrated_from
                .as_ref()
                .map_or(0, |run| run.as_str().len())
    }
}

/// What a run was told from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Its number in the run: that of its arrival. Greater ones came later, over all names and generations.
    pub number: u64,
    /// The name of the message or signal.
    pub name: String,
    /// What it says.
    pub payload: Value,
    /// The sender's idempotency key, where it gave one (S26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Told {
    fn size(&self) -> usize {
        self.name.len() + self.payload.as_json().len() + self.key.as_ref().map_or(0, String::len)
    }
}

/// What a decision came to whose result only its commit could give (S3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SlotResult {
    /// A message or a signal was sent to another run: it is in that one's queue.
    Sent(Receipt),
    /// It was not, and nothing of it is stored.
    NotSent(SendFailure),
    /// An offer was fulfilled: the value is in the queue of its run.
    Fulfilled(Receipt),
    /// It was not, and nothing of it is stored.
    NotFulfilled(FulfilFailure),
}

impl SlotResult {
    fn size(&self) -> usize {
        match self {
            Self::Sent(_) | Self::Fulfilled(_) => 0,
            Self::NotFulfilled(failure) => failure.size(),
            Self::NotSent(failure) => match failure {
                SendFailure::RunNotFound { run }
                | SendFailure::InboxFull { run, .. }
                | SendFailure::Conflict { run } => run.as_str().len(),
                SendFailure::RunFinished { run, end, .. } => {
                    let to = match end {
                        RunEnd::Migrated { to } => to.as_str().len(),
                        RunEnd::Completed | RunEnd::Failed => 0,
                    };
                    run.as_str().len() + to
                }
                SendFailure::NoSuchMessage {
                    run,
                    workflow,
                    name,
                } => run.as_str().len() + workflow.len() + name.len(),
                SendFailure::Unreadable { run, problem } => run.as_str().len() + problem.len(),
                SendFailure::TooLarge { .. } => 0,
            },
        }
    }
}

/// How a run was moved to a new one (S38). The new run's [`Started::migrated_from`] refers back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Migrated {
    /// The new run, in the namespace of this one.
    pub to: RunId,
    /// The workflow of the new run.
    pub workflow: String,
    /// The function that made the new run's input out of this one.
    pub migration: String,
    /// The program that did it.
    pub artifact: String,
    /// Activities that had no result yet and go on: what they come to is recorded beside this history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<OpenOperation>,
    /// Timers that had not fired and offers of stubs that nobody had fulfilled: they ended with the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<u64>,
    /// How the run would have begun, where no program had begun it: then this is the history's only event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<Box<Started>>,
}

impl Migrated {
    fn size(&self) -> usize {
        let kept: usize = self.kept.iter().map(OpenOperation::size).sum();
        self.to.as_str().len()
            + self.workflow.len()
            + self.migration.len()
            + self.artifact.len()
            + kept
            + 16 * self.stopped.len()
            + self
                .unstarted
                .as_ref()
                .map_or(0, |started| FRAME + started.size())
    }
}

/// How an activity ended that has no result (S18).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ActivityFailure {
    /// It said no, finally; the value is typed.
    Rejected {
        /// What it returned.
        value: Value,
    },
    /// Each attempt failed, and the budget allows no more.
    RetriesExhausted {
        /// What the last attempt said.
        last: String,
        /// How many attempts there were.
        attempts: u32,
    },
    /// The overall deadline passed.
    TimedOut,
    /// It was cancelled.
    Cancelled,
    /// Its input or result is too large to be stored.
    TooLarge {
        /// The size in bytes.
        size: u64,
        /// The bound in bytes.
        limit: u64,
    },
}
