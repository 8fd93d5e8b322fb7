//! What the workflow causes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::event::FRAME;
use crate::value::Value;
use crate::{OperationId, RunId, Timestamp};

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
        /// The number of what it took: [`Told::number`](crate::history::Told::number).
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
    pub(super) fn size(&self) -> usize {
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
