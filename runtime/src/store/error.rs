//! What can go wrong with a store.

use std::fmt;

use perennial::value::Digest;
use perennial::wire::RecordError;
use perennial::{RunKey, Timestamp};

use super::contract::Fence;
use crate::words::verb;

/// What became of a write or a read that did not succeed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StoreError {
    /// A guard did not hold: nothing was written.
    Refused(Refusal),
    /// It may or may not be durable. The caller forgets what it holds and loads again (S4).
    Unknown {
        /// What happened.
        reason: String,
    },
    /// The store takes no writes any more: it was closed, or a write failed and it closed itself.
    Closed {
        /// Why.
        reason: String,
    },
    /// What is stored is not what was written.
    Damaged {
        /// Where.
        place: String,
        /// What is wrong there.
        problem: RecordError,
    },
    /// Events are missing in a history.
    Gap {
        /// The run.
        run: RunKey,
        /// The first event that is missing.
        expected: u64,
        /// The event that comes in its place; `None`: the history ends too early.
        found: Option<u64>,
    },
    /// More than the store takes in one write (S15).
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        size: u64,
        /// The bound in bytes.
        limit: u64,
    },
    /// The system said no.
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        error: String,
    },
}

/// Which guard of a write did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such run.
    NoRun {
        /// The run.
        run: RunKey,
    },
    /// The run has ended.
    Finished {
        /// The run.
        run: RunKey,
    },
    /// Somebody else owns the run now.
    Fenced {
        /// The run.
        run: RunKey,
        /// The fence of the write.
        given: Fence,
        /// The run's fence.
        current: Fence,
    },
    /// The history has other events than the writer knows of.
    Moved {
        /// The run.
        run: RunKey,
        /// Generation and last event that the writer knows of.
        given: (u64, u64),
        /// Those of the run.
        current: (u64, u64),
    },
    /// The run was purged, and takes nothing any more.
    Purged {
        /// The run.
        run: RunKey,
        /// When.
        at: Timestamp,
    },
    /// The run has not ended, so it is not purged.
    Unfinished {
        /// The run.
        run: RunKey,
    },
    /// The run has ended, but activities of it have not, so it is not purged.
    OpenTasks {
        /// The run.
        run: RunKey,
        /// How many.
        tasks: u64,
    },
    /// There is such a run already, so it is not restored.
    Exists {
        /// The run.
        run: RunKey,
    },
    /// A restore of the run has begun and not ended.
    Restoring {
        /// The run.
        run: RunKey,
    },
    /// The run has too many messages that it has not taken, or signals in its queue (M12).
    InboxFull {
        /// The run.
        run: RunKey,
        /// How many there may be.
        limit: u64,
    },
    /// The key was used for something else (M15).
    KeyConflict(Box<KeyConflict>),
    /// The key is older than what the run knows, so that it cannot tell whether it was used (S26).
    KeyTooOld {
        /// The run.
        run: RunKey,
        /// The key.
        key: String,
        /// When the sender first sent it.
        at: Timestamp,
    },
    /// The run has not come to an operation of that number (B12).
    NoSuchOffer {
        /// The run.
        run: RunKey,
        /// The operation's number.
        operation: u64,
    },
    /// The operation is not one that somebody outside completes, or its generation was purged (B12).
    NotAnOffer {
        /// The run.
        run: RunKey,
        /// The operation's number.
        operation: u64,
    },
    /// The offer is one of another stub (B12).
    OtherOffer(Box<OtherOffer>),
    /// The offer was fulfilled with another value (B4, B5, B7).
    OfferTaken(Box<OfferTaken>),
    /// The run waited no more for the offer: it dropped it, or ended, or the time was over (B11).
    OfferClosed(Box<OfferClosed>),
    /// What is to be restored contradicts itself.
    Inconsistent {
        /// The run.
        run: RunKey,
        /// What it has.
        problem: &'static str,
    },
}

/// An idempotency key that was used for something else (M15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyConflict {
    /// The run.
    pub run: RunKey,
    /// The key.
    pub key: String,
    /// The name of what it was used for.
    pub name: String,
    /// The digest of that.
    pub known: Digest,
    /// The digest of what is sent now.
    pub given: Digest,
}

/// An offer that was fulfilled with another value (B4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferTaken {
    /// The run.
    pub run: RunKey,
    /// The operation's number.
    pub operation: u64,
    /// The name of the stub.
    pub name: String,
    /// The digest of the value that it has.
    pub known: Digest,
    /// The digest of the value that came now.
    pub given: Digest,
}

/// An offer of another stub than the one that it was taken for (B12).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherOffer {
    /// The run.
    pub run: RunKey,
    /// The operation's number.
    pub operation: u64,
    /// The name of the stub that it is of.
    pub name: String,
    /// The name of the stub that it was taken for.
    pub given: String,
}

/// An offer that nobody waits for any more (B11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferClosed {
    /// The run.
    pub run: RunKey,
    /// The operation's number.
    pub operation: u64,
    /// The name of the stub.
    pub name: String,
    /// Since when.
    pub at: Timestamp,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRun { run } => write!(f, "there is no run {run}"),
            Self::Finished { run } => write!(f, "run {run} has ended"),
            Self::Fenced {
                run,
                given,
                current,
            } => write!(
                f,
                "run {run} has another owner now (this one's fence is {}, the run's is {})",
                given.0, current.0
            ),
            Self::Moved {
                run,
                given,
                current,
            } => write!(
                f,
                "the history of run {run} has moved on: the writer knew event {} of generation {}, \
                 the run stands at event {} of generation {}",
                given.1, given.0, current.1, current.0
            ),
            Self::Purged { run, at } => write!(f, "run {run} was purged at {at}"),
            Self::Unfinished { run } => {
                write!(f, "run {run} has not ended, and only ended runs are purged")
            }
            Self::OpenTasks { run, tasks } => write!(
                f,
                "run {run} has ended, but {tasks} of its activities {not}, and it is purged after {them}",
                not = verb(*tasks, "has not", "have not"),
                them = verb(*tasks, "that", "them"),
            ),
            Self::Exists { run } => write!(f, "there is a run {run} already"),
            Self::Restoring { run } => write!(
                f,
                "a restore of run {run} has begun and not ended; it has to be ended or given up first"
            ),
            Self::InboxFull { run, limit } => write!(
                f,
                "run {run} has {limit} messages or signals that it has not taken, and takes no more until it has"
            ),
            Self::KeyConflict(conflict) => {
                let KeyConflict {
                    run,
                    key,
                    name,
                    known,
                    given,
                } = &**conflict;
                write!(
                    f,
                    "the idempotency key \"{}\" of run {run} stands for another send, of \"{}\" (digest {known}, this \
                 one's is {given})",
                    key.escape_debug(),
                    name.escape_debug()
                )
            }
            Self::KeyTooOld { run, key, at } => write!(
                f,
                "the idempotency key \"{}\" was first used at {at}, and run {run} does not know keys that old any more",
                key.escape_debug()
            ),
            Self::NoSuchOffer { run, operation } => {
                write!(f, "run {run} has not come to an operation {operation}")
            }
            Self::NotAnOffer { run, operation } => write!(
                f,
                "operation {operation} of run {run} is none that somebody outside completes"
            ),
            Self::OtherOffer(other) => {
                let OtherOffer {
                    run,
                    operation,
                    name,
                    given,
                } = &**other;
                write!(
                    f,
                    "operation {operation} of run {run} is a call of \"{}\", and not of \"{}\"",
                    name.escape_debug(),
                    given.escape_debug()
                )
            }
            Self::OfferTaken(taken) => {
                let OfferTaken {
                    run,
                    operation,
                    name,
                    known,
                    given,
                } = &**taken;
                write!(
                    f,
                    "operation {operation} of run {run}, of \"{}\", was completed with another value (digest {known}, \
                     this one's is {given})",
                    name.escape_debug()
                )
            }
            Self::OfferClosed(closed) => {
                let OfferClosed {
                    run,
                    operation,
                    name,
                    at,
                } = &**closed;
                write!(
                    f,
                    "run {run} waits no more for operation {operation}, of \"{}\", since {at}",
                    name.escape_debug()
                )
            }
            Self::Inconsistent { run, problem } => write!(
                f,
                "what is to be restored of run {run} has {problem}, so it is not what a store gave out"
            ),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "{refusal}; nothing was written"),
            Self::Unknown { reason } => {
                write!(
                    f,
                    "it is not known whether the write is durable: {reason}\n\n\
                     help: start the program again; it finds what is durable, and what is asked again under the \
                     same id is not done twice"
                )
            }
            Self::Closed { reason } => write!(
                f,
                "the store is closed: {reason}\n\n\
                 help: start the program again; what was acknowledged is there"
            ),
            Self::Damaged { place, problem } => write!(
                f,
                "{place}: {problem}\n\nhelp: nothing was changed; restore a backup if there is one; otherwise stop \
                 the program, and `perennial store salvage <folder> --to <export>` reads what can be read"
            ),
            Self::Gap {
                run,
                expected,
                found,
            } => match found {
                Some(found) => write!(
                    f,
                    "the history of run {run} has a gap: event {expected} is missing, event {found} comes next"
                ),
                None => write!(
                    f,
                    "the history of run {run} ends too early: event {expected} is missing"
                ),
            },
            Self::TooLarge { what, size, limit } => {
                write!(
                    f,
                    "{what} is {size} bytes long; the store takes at most {limit}"
                )
            }
            Self::Io { what, error } => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl StoreError {
    /// Of a write: it may be durable, or the store takes no more of them. Then nothing goes on in this process, which
    /// holds what may not be what is stored (S4).
    pub(crate) fn ends_all(&self) -> bool {
        matches!(
            self,
            Self::Unknown { .. } | Self::Closed { .. } | Self::Io { .. }
        )
    }
}
