//! The events.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::value::Value;
use crate::{
    FulfilFailure, Namespace, OperationId, Receipt, RunEnd, RunId, SendFailure, Timestamp,
};

/// The replay semantics of this engine, named by the first event of each history (S15).
pub const SEMANTICS: u32 = 1;

/// The artifact of the runs that the test kit makes: no program can be started for them, and no store has them.
pub(crate) const TEST_ARTIFACT: &str = "test";

/// One observation and the decisions that its poll made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// The number of the observation; the decisions have the numbers after it.
    pub number: u64,
    /// The stamp of the observation. It never goes back within a run (S2).
    pub at: Timestamp,
    /// What the world caused.
    pub observation: Observation,
    /// What the workflow decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
}

impl Unit {
    /// The number of the unit's last event.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.number.saturating_add(self.decisions.len() as u64)
    }

    /// The unit's events with their numbers.
    pub fn events(&self) -> impl Iterator<Item = (u64, Event<'_>)> {
        std::iter::once(Event::Observation(&self.observation))
            .chain(self.decisions.iter().map(Event::Decision))
            .enumerate()
            .map(|(at, event)| (self.number.saturating_add(at as u64), event))
    }
}

/// Either kind of event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// The world caused it.
    Observation(&'a Observation),
    /// The workflow caused it.
    Decision(&'a Decision),
}

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

/// The most bytes that the numbers, tags and lengths of an encoded event have.
const FRAME: usize = 128;

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
    /// The replay semantics of the engine that began it ([`SEMANTICS`], S15).
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

/// What the workflow decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// It called an activity.
    ActivityScheduled {
        /// The operation's number.
        operation: u64,
        /// The activity's name.
        name: Cow<'static, str>,
        /// The input.
        input: Value,
        /// Where in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// It began to wait for a point in time.
    TimerStarted {
        /// The operation's number.
        operation: u64,
        /// When it fires.
        deadline: Timestamp,
        /// Where in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// It began to wait for a message or a signal (S25).
    ReceiveStarted {
        /// The operation's number.
        operation: u64,
        /// For which of them.
        channel: Channel,
        /// The name.
        name: Cow<'static, str>,
        /// Where in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// A wait has taken a message or a signal.
    Received {
        /// The operation's number.
        operation: u64,
        /// What it is.
        channel: Channel,
        /// The number of what it took: [`Told::number`].
        number: u64,
        /// Why that is not of the type that the code waits for, if it is not (M37).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        invalid: Option<String>,
    },
    /// It offered a stub: an operation whose result somebody outside gives, by its reference (S25).
    StubOffered {
        /// The operation's number.
        operation: u64,
        /// The stub's name.
        name: Cow<'static, str>,
        /// What whoever fulfils it is to know.
        input: Value,
        /// Where in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// It found that what a stub was fulfilled with is not of its type, and was told so.
    StubInvalid {
        /// The operation's number.
        operation: u64,
        /// What is wrong with it, and where.
        problem: String,
    },
    /// It sent a message or a signal to another run, or to itself. The commit does it, and what that came to is what
    /// the run is told next (S3).
    SendRequested {
        /// The operation's number.
        operation: u64,
        /// To which run of the same namespace.
        run: RunId,
        /// Which of the two it is.
        channel: Channel,
        /// The name.
        name: Cow<'static, str>,
        /// What it says.
        payload: Value,
        /// Where in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// It fulfilled what a run offers, itself or another one. The commit does it, and what that came to is what the run
    /// is told next (S3).
    FulfilRequested {
        /// The operation's number.
        operation: u64,
        /// What the run of the same namespace offers.
        reference: OperationId,
        /// The stub's name.
        stub: Cow<'static, str>,
        /// With what.
        value: Value,
        /// Where in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// It asked for a value that is not the same twice, and this is the one.
    Recorded {
        /// What kind of value.
        source: RecordSource,
        /// The value.
        value: Value,
        /// Where in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// It gave out an item in a stream (S28).
    Emitted {
        /// The name of the stream.
        stream: Cow<'static, str>,
        /// The number of the item, counted from 1 over all generations of the run.
        number: u64,
        /// The item.
        value: Value,
        /// Where in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// It answered an update that it has accepted: the first decision of that unit (S27).
    UpdateAnswered {
        /// The answer.
        value: Value,
        /// Where in the source the update is handled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// It asked which version of its code this run has, and this is the one from here on (S36).
    Marker {
        /// What the code calls the change.
        id: Cow<'static, str>,
        /// The version, counted from 0, the code before the change.
        version: u32,
        /// Where in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<CallSite>,
    },
    /// It let go of a named set of work that had members which it had not taken.
    SetClosed {
        /// The name of the set.
        name: Cow<'static, str>,
        /// What becomes of those members.
        close: Close,
        /// Their numbers in the set.
        open: Vec<u64>,
    },
    /// It dropped an operation that had no result yet (S12).
    Dropped {
        /// The operation's number.
        operation: u64,
    },
    /// It returned a result. Nothing follows in this generation.
    Completed {
        /// The result.
        value: Value,
        /// Activities that were dispatched and have no result yet (S12).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open: Vec<OpenOperation>,
    },
    /// It returned an error. Nothing follows in this generation.
    Failed {
        /// The error.
        error: Value,
        /// Activities that were dispatched and have no result yet (S12).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open: Vec<OpenOperation>,
    },
}

impl Decision {
    /// Whether it ends the generation.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Completed { .. } | Self::Failed { .. })
    }

    /// The most bytes that it has when it is encoded.
    pub(crate) fn size(&self) -> usize {
        let site = self
            .site()
            .map_or(0, |site| site.file.len() + site.function.len());
        FRAME
            + site
            + match self {
                Self::ActivityScheduled { name, input, .. }
                | Self::StubOffered { name, input, .. } => name.len() + input.as_json().len(),
                Self::StubInvalid { problem, .. } => problem.len(),
                Self::TimerStarted { .. } | Self::Dropped { .. } => 0,
                Self::Emitted { stream, value, .. } => stream.len() + value.as_json().len(),
                Self::UpdateAnswered { value, .. } => value.as_json().len(),
                Self::Marker { id, .. } => id.len(),
                Self::SetClosed { name, open, .. } => name.len() + 16 * open.len(),
                Self::ReceiveStarted { name, .. } => name.len(),
                Self::SendRequested {
                    run, name, payload, ..
                } => run.as_str().len() + name.len() + payload.as_json().len(),
                Self::FulfilRequested {
                    reference,
                    stub,
                    value,
                    ..
                } => reference.run.as_str().len() + stub.len() + value.as_json().len(),
                Self::Received { invalid, .. } => invalid.as_ref().map_or(0, String::len),
                Self::Recorded { source, value, .. } => {
                    let name = match source {
                        RecordSource::Random | RecordSource::Uuid => 0,
                        RecordSource::Named(name) => name.len(),
                    };
                    name + value.as_json().len()
                }
                Self::Completed { value, open } | Self::Failed { error: value, open } => {
                    let open: usize = open.iter().map(OpenOperation::size).sum();
                    value.as_json().len() + open
                }
            }
    }

    /// The number of the operation that it begins, ends or is about, if it is about one.
    #[must_use]
    pub fn operation(&self) -> Option<u64> {
        match self {
            Self::ActivityScheduled { operation, .. }
            | Self::TimerStarted { operation, .. }
            | Self::ReceiveStarted { operation, .. }
            | Self::Received { operation, .. }
            | Self::StubOffered { operation, .. }
            | Self::StubInvalid { operation, .. }
            | Self::SendRequested { operation, .. }
            | Self::FulfilRequested { operation, .. }
            | Self::Dropped { operation } => Some(*operation),
            Self::Recorded { .. }
            | Self::Emitted { .. }
            | Self::UpdateAnswered { .. }
            | Self::Marker { .. }
            | Self::SetClosed { .. }
            | Self::Completed { .. }
            | Self::Failed { .. } => None,
        }
    }

    /// Where in the source it was made, where that was recorded.
    #[must_use]
    pub fn site(&self) -> Option<&CallSite> {
        match self {
            Self::ActivityScheduled { site, .. }
            | Self::TimerStarted { site, .. }
            | Self::Recorded { site, .. }
            | Self::ReceiveStarted { site, .. }
            | Self::Emitted { site, .. }
            | Self::UpdateAnswered { site, .. }
            | Self::StubOffered { site, .. }
            | Self::SendRequested { site, .. }
            | Self::FulfilRequested { site, .. }
            | Self::Marker { site, .. } => site.as_ref(),
            Self::Received { .. }
            | Self::StubInvalid { .. }
            | Self::SetClosed { .. }
            | Self::Dropped { .. }
            | Self::Completed { .. }
            | Self::Failed { .. } => None,
        }
    }
}

/// An activity that the run leaves behind: dropping is not rollback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenOperation {
    /// The operation's number.
    pub operation: u64,
    /// The activity's name.
    pub name: String,
}

impl OpenOperation {
    fn size(&self) -> usize {
        32 + self.name.len()
    }
}

/// What a run can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// A message: kept until one wait takes it.
    Message,
    /// A signal: for all who wait when it arrives.
    Signal,
}

/// What becomes of the members of a set of work that were not taken when the set is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Close {
    /// They are dropped too, in the order of their submission.
    #[default]
    Drop,
    /// They go on beside the workflow's own line, until they are done or the run ends.
    Detach,
}

/// Where a recorded value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordSource {
    /// `cx.random()` and what is built on it.
    Random,
    /// `cx.uuid()`.
    Uuid,
    /// `cx.record(name, ..)`.
    Named(String),
}

/// A place in the source. Recorded and shown, never compared (S9).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallSite {
    /// The file, relative to the workspace or package.
    pub file: Cow<'static, str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The function; empty where it is not known.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub function: Cow<'static, str>,
}

impl std::fmt::Display for CallSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
