//! What becomes of what a run sends to another one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{RunId, Timestamp};

/// That a run has a message, or a value for one of its offers, durably.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its number in the run. Greater ones came later, whatever their names; there are gaps.
    pub number: u64,
    /// When it came.
    pub at: Timestamp,
    /// The run had it already, a message under the same idempotency key, a value for the same operation: this is the
    /// receipt of then.
    pub duplicate: bool,
}

/// How a run ended that takes no messages any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEnd {
    /// It returned a result.
    Completed,
    /// It returned an error.
    Failed,
    /// It was moved to a new run, which goes on in its place.
    Migrated {
        /// The new run, in the same namespace.
        to: RunId,
    },
}

/// Why a run did not get what another run sent to it ([`Cx::send`](crate::Cx::send)). It is recorded, so that a
/// replay finds the same (M49). Nothing of it was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SendFailure {
    /// There is no such run in the sender's namespace (M6, M52).
    RunNotFound {
        /// The run.
        run: RunId,
    },
    /// The run has ended (M7).
    RunFinished {
        /// The run.
        run: RunId,
        /// How it ended.
        end: RunEnd,
        /// When.
        finished: Timestamp,
    },
    /// The run has as many messages as it may have that it has not taken, or signals in its queue (M12).
    InboxFull {
        /// The run.
        run: RunId,
        /// How many that are.
        limit: u64,
    },
    /// The run's workflow waits for no message, or signal, of that name (M38).
    NoSuchMessage {
        /// The run.
        run: RunId,
        /// Its workflow.
        workflow: String,
        /// The name.
        name: String,
    },
    /// The run has got another message from this same operation: the sender was put back to an older state, as from
    /// a backup, and has gone another way since (M48).
    Conflict {
        /// The run.
        run: RunId,
    },
    /// The run is there, and what is stored of it cannot be read.
    Unreadable {
        /// The run.
        run: RunId,
        /// What is the matter with it.
        problem: String,
    },
    /// It is longer than what is stored of one value (M11). This is not recorded: it is the same in each replay.
    TooLarge {
        /// How many bytes it has.
        size: u64,
        /// How many it may have.
        limit: u64,
    },
}

impl fmt::Display for SendFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was sent, since ")?;
        match self {
            Self::RunNotFound { run } => write!(
                f,
                "there is no run {run} in the namespace of the sender\n\n\
                 help: a workflow reaches the runs of its own namespace, from their starts to their ends"
            ),
            Self::RunFinished {
                run,
                end: RunEnd::Migrated { to },
                finished,
            } => write!(
                f,
                "run {run} was migrated to run {to} at {finished}\n\n\
                 help: send it to run {to}, which goes on in its place"
            ),
            Self::RunFinished { run, end, finished } => write!(
                f,
                "run {run} {} at {finished}",
                match end {
                    RunEnd::Failed => "failed",
                    _ => "completed",
                }
            ),
            Self::InboxFull { run, limit } => write!(
                f,
                "run {run} has {limit} messages or signals that it has not taken, and takes no more\n\n\
                 help: send again after a `cx.sleep`, when the run may have taken some"
            ),
            Self::NoSuchMessage {
                run,
                workflow,
                name,
            } => write!(
                f,
                "the workflow `{workflow}` of run {run} waits for nothing called \"{}\"\n\n\
                 help: declare the name once, as a `const`, and use that where it is sent and where it is waited for",
                name.escape_debug()
            ),
            Self::Conflict { run } => write!(
                f,
                "run {run} has got another message from this same operation\n\n\
                 help: the sender was put back to an older state, as from a backup, and has gone another way since; \
                 what it has sent before stands"
            ),
            Self::Unreadable { run, problem } => {
                write!(f, "what is stored of run {run} cannot be read: {problem}")
            }
            Self::TooLarge { size, limit } => write!(
                f,
                "it is {size} bytes long; at most {limit} can be stored\n\n\
                 help: store the data elsewhere and send its address or digest"
            ),
        }
    }
}

impl std::error::Error for SendFailure {}
