//! What can go wrong for a client.

use std::fmt;
use std::time::Duration;

use perennial::value::{DecodeError, EncodeError};
use perennial::{InvalidId, RunKey, Timestamp};

use crate::client::SendError;
use crate::store::{Status, StoreError};
use crate::words::verb;

/// A run that could not be started.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum StartError {
    /// The id cannot be used.
    InvalidId(InvalidId),
    /// The input cannot be stored.
    Input(EncodeError),
    /// There is no such workflow in this program.
    UnknownWorkflow {
        /// The name that was asked for.
        name: String,
        /// The name that is most like it.
        closest: Option<String>,
    },
    /// The input is not what the workflow takes.
    Undecodable {
        /// The workflow.
        workflow: String,
        /// What does not fit.
        error: DecodeError,
    },
    /// There is a run of that id, of another workflow or with another input.
    Conflict {
        /// The run.
        run: RunKey,
        /// Its workflow.
        workflow: String,
        /// The workflow that was to be started.
        asked: String,
        /// The digest of its input.
        input: String,
        /// The digest of the input that was given.
        given: String,
        /// How it stands.
        status: Status,
    },
    /// A message that was to come with it cannot be sent.
    Message(Box<SendError>),
    /// There is that run already, and the messages that were to come with it are not the first that it has: they
    /// were not sent.
    MessagesNotSent {
        /// The run.
        run: RunKey,
    },
    /// The store or the engine could not do it.
    Unavailable(Unavailable),
}

/// The store or the engine could not do it.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Unavailable {
    /// The store said no.
    Store(StoreError),
    /// The runtime is draining, and begins no more runs. It was not done.
    Draining,
    /// A part of the engine panicked, so that nothing goes on in this process. Whether it was done is not
    /// known: ask again with the same id (S4).
    Broken {
        /// Which, and what it said.
        reason: String,
    },
    /// The runtime was stopped before the answer came. Whether it was done is not known: ask again with the
    /// same id (S4).
    Stopped,
}

impl Unavailable {
    /// Why it is not known whether it was done; `None`: it was not.
    pub(crate) fn lost(&self) -> Option<String> {
        Some(match self {
            Self::Store(StoreError::Unknown { reason }) => reason.clone(),
            Self::Broken { reason } => format!("the engine stopped, since {reason}"),
            Self::Stopped => "the runtime was stopped".to_owned(),
            Self::Store(_) | Self::Draining => return None,
        })
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Draining => f.write_str("the runtime is draining and begins no more runs"),
            Self::Broken { reason } => write!(
                f,
                "the engine stopped, since {reason}\n\n\
                 help: what was acknowledged is in the store, and goes on when the program is started again"
            ),
            Self::Stopped => f.write_str(
                "the runtime was stopped before it answered, so it is not known whether this was done\n\n\
                 help: ask again with the same id once a runtime is there; nothing is done twice",
            ),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Unavailable {}

impl From<StoreError> for Unavailable {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidId(error) => error.fmt(f),
            Self::Input(error) => write!(
                f,
                "the run was not started, since its input cannot be stored: {error}"
            ),
            Self::UnknownWorkflow { name, closest } => {
                write!(
                    f,
                    "no workflow `{}` is registered in this program",
                    name.escape_debug()
                )?;
                match closest {
                    Some(closest) => write!(f, "\n\nhelp: there is one called `{closest}`"),
                    None => f.write_str(
                        "\n\nhelp: add it to the runtime's builder with `.workflow(..)`",
                    ),
                }
            }
            Self::Undecodable { workflow, error } => {
                write!(
                    f,
                    "the run was not started, since its input is not what `{workflow}` takes: {error}"
                )
            }
            Self::Conflict {
                run,
                workflow,
                asked,
                input,
                given,
                status,
            } => {
                write!(f, "there is a run {run} already, and it is another one:")?;
                if workflow == asked {
                    write!(
                        f,
                        "\n  its input has the digest {}…, this one {}…",
                        cut(input),
                        cut(given)
                    )?;
                } else {
                    write!(
                        f,
                        "\n  it is one of the workflow `{workflow}`, not of `{asked}`"
                    )?;
                }
                f.write_str("\n\nhelp: nothing was changed; choose another id")?;
                if status.is_finished() {
                    f.write_str(", or begin it anew with `.reuse(Reuse::AfterFinish)`, since it has finished")?;
                }
                Ok(())
            }
            Self::Message(error) => write!(f, "the run was not started: {error}"),
            Self::MessagesNotSent { run } => write!(
                f,
                "there is a run {run} already, and the messages that were to come with it are not those that it began \
                 with, so they were not sent\n\n\
                 help: send them to the run that there is, under an idempotency key each: `client.send(..)`"
            ),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

pub(crate) fn cut(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for StartError {}

impl From<InvalidId> for StartError {
    fn from(error: InvalidId) -> Self {
        Self::InvalidId(error)
    }
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}

/// A run that gave no result.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum RunError<E> {
    /// It returned an error.
    Failed(E),
    /// This program cannot go on with it; nothing is lost, and it goes on when code that fits is started.
    Blocked {
        /// The run.
        run: RunKey,
        /// The stable code of the error.
        code: String,
        /// The whole text of the error.
        text: String,
    },
    /// There is no such run.
    NotFound {
        /// The run.
        run: RunKey,
    },
    /// It has ended, and was purged since: what it returned is not kept.
    Purged {
        /// The run.
        run: RunKey,
        /// How it ended.
        status: Status,
        /// When it ended.
        finished: Timestamp,
        /// When it was purged.
        at: Timestamp,
    },
    /// It was moved to a new run, which goes on in its place (S38).
    Migrated {
        /// The run.
        run: RunKey,
        /// The new one.
        to: RunKey,
    },
    /// Its result or error is not of the type that is expected.
    Undecodable {
        /// The run.
        run: RunKey,
        /// What does not fit.
        error: DecodeError,
    },
    /// The store or the engine could not say.
    Unavailable(Unavailable),
}

impl<E: fmt::Display> fmt::Display for RunError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Blocked { text, .. } => f.write_str(text),
            Self::NotFound { run } => write!(
                f,
                "there is no run {run}\n\nhelp: `client.list()` shows the runs of a namespace"
            ),
            Self::Purged {
                run,
                status,
                finished,
                at,
            } => write!(
                f,
                "run {run} returned {} at {finished}, and what it returned went when the run was purged at {at}\n\n\
                 help: results that are needed for longer are kept with a longer `.retention(..)` of the runtime's \
                 builder; `.reuse(Reuse::AfterFinish)` begins the run anew",
                if *status == Status::Failed {
                    "an error"
                } else {
                    "a result"
                }
            ),
            Self::Migrated { run, to } => write!(
                f,
                "run {run} was migrated to run {to}, which goes on in its place\n\n\
                 help: wait for that one: `client.run(its_workflow, \"{}\")`",
                to.id
            ),
            Self::Undecodable { run, error } => {
                write!(f, "what run {run} returned cannot be read: {error}")
            }
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl<E: fmt::Display> fmt::Debug for RunError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<E: fmt::Display> std::error::Error for RunError<E> {}

/// Something about a run that could not be read.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ReadError {
    /// The id cannot be used.
    InvalidId(InvalidId),
    /// There is no such run.
    NotFound {
        /// The run.
        run: RunKey,
    },
    /// It has ended, and was purged since: its history is not kept.
    Purged {
        /// The run.
        run: RunKey,
        /// When it was purged.
        at: Timestamp,
    },
    /// A cursor that no page has given.
    InvalidCursor {
        /// The text.
        cursor: String,
    },
    /// A page was asked for that begins after one message and ends before another.
    BothDirections,
    /// The store or the engine could not say.
    Unavailable(Unavailable),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidId(error) => error.fmt(f),
            Self::NotFound { run } => write!(
                f,
                "there is no run {run}\n\nhelp: `client.list()` shows the runs of a namespace"
            ),
            Self::Purged { run, at } => write!(
                f,
                "the history of run {run} is not kept: the run has ended, and was purged at {at}\n\n\
                 help: its status still tells how and when it ended"
            ),
            Self::InvalidCursor { cursor } => write!(
                f,
                "\"{}\" is not the cursor of a page\n\nhelp: use `next` of the page before, as it is",
                cursor.escape_debug()
            ),
            Self::BothDirections => f.write_str(
                "a page of messages goes in one direction: `after` a number or `before` one, not both\n\n\
                 help: read on with `.after(..)` the last number of the page before, or back with `.before(..)` its \
                 first"
            ),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ReadError {}

impl From<Unavailable> for ReadError {
    fn from(error: Unavailable) -> Self {
        Self::Unavailable(error)
    }
}

impl From<StoreError> for ReadError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<InvalidId> for ReadError {
    fn from(error: InvalidId) -> Self {
        Self::InvalidId(error)
    }
}

/// A run that could not be purged.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum PurgeError {
    /// There is no such run.
    NotFound {
        /// The run.
        run: RunKey,
    },
    /// It has not ended.
    Unfinished {
        /// The run.
        run: RunKey,
    },
    /// It has ended, but activities of it have not.
    OpenActivities {
        /// The run.
        run: RunKey,
        /// How many.
        count: u64,
    },
    /// The store or the engine could not do it.
    Unavailable(Unavailable),
}

impl fmt::Display for PurgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { run } => write!(
                f,
                "there is no run {run}\n\nhelp: `client.list()` shows the runs of a namespace"
            ),
            Self::Unfinished { run } => write!(
                f,
                "run {run} was not purged, since it has not ended\n\nhelp: wait for its end, and purge it then"
            ),
            Self::OpenActivities { run, count } => write!(
                f,
                "run {run} was not purged: it has ended, but {count} of its activities {not}\n\n\
                 help: what {they} to is recorded with the run; purge it after that",
                not = verb(*count, "has not", "have not"),
                they = verb(*count, "it comes", "they come"),
            ),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for PurgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PurgeError {}

/// A run that was not made to go on.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum UnblockError {
    /// There is no such run.
    NotFound {
        /// The run.
        run: RunKey,
    },
    /// It has ended.
    Finished {
        /// The run.
        run: RunKey,
        /// How it ended.
        status: Status,
    },
    /// It is not blocked.
    NotBlocked {
        /// The run.
        run: RunKey,
    },
    /// It is paused, and is tried when it is let go on.
    Paused {
        /// The run.
        run: RunKey,
        /// Since when.
        since: Timestamp,
    },
    /// It was tried again, and this program still cannot go on with it. Nothing is lost; it goes on when code
    /// that fits is started.
    StillBlocked {
        /// The run.
        run: RunKey,
        /// Whether the history does not fit this program, so that only another program can go on with it (S16).
        unfit: bool,
        /// The stable code of the error.
        code: String,
        /// The whole text of the error.
        text: String,
    },
    /// The store or the engine could not do it.
    Unavailable(Unavailable),
}

impl fmt::Display for UnblockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { run } => write!(
                f,
                "there is no run {run}\n\nhelp: `client.list()` shows the runs of a namespace"
            ),
            Self::Finished { run, .. } => write!(
                f,
                "run {run} was not tried again, since it has ended\n\n\
                 help: `client.status(..)` tells how, and `.reuse(Reuse::AfterFinish)` begins it anew"
            ),
            Self::NotBlocked { run } => write!(
                f,
                "run {run} was not tried again, since it is not blocked: it goes on, or waits\n\n\
                 help: its history tells what it waits for; `client.list().blocked(true)` shows the runs that \
                 are blocked"
            ),
            Self::Paused { run, since } => write!(
                f,
                "run {run} was not tried again, since it is paused, since {since}\n\n\
                 help: `client.resume(..)` lets it go on, and tries it"
            ),
            Self::StillBlocked { text, .. } => {
                write!(f, "the run was tried again, and is still blocked\n\n{text}")
            }
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for UnblockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnblockError {}

/// What a drain has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "attempts that had not ended run again in the next process"]
pub struct Drained {
    /// Attempts that had not ended in time. The next process runs them again.
    pub unfinished: usize,
    /// How long it took.
    pub took: Duration,
}
