//! What can go wrong when an operation of a run is completed from outside.

use std::fmt;

use perennial::value::{DecodeError, Digest, EncodeError};
use perennial::{InvalidId, OperationId, RunId, RunKey, Timestamp};

use crate::error::{Unavailable, cut};
use crate::store::{Refusal, Status, StoreError};

/// An operation that was not completed. Nothing is stored, save where it is [`Unacknowledged`]: then it may be.
///
/// [`Unacknowledged`]: Self::Unacknowledged
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum FulfilError {
    /// What was given is no reference of an operation.
    InvalidReference(InvalidId),
    /// The reference is one of another run: it says so itself, whatever there is of the two (B13).
    OtherRun {
        /// The reference.
        reference: OperationId,
        /// The run that it was given for.
        run: RunId,
    },
    /// There is no such run.
    RunNotFound {
        /// The run.
        run: RunKey,
    },
    /// The run has ended and was purged: nobody knows any more what became of its operations.
    Purged {
        /// The reference.
        reference: OperationId,
    },
    /// The run has not come to an operation of that number (B12).
    NoSuchOperation {
        /// The reference.
        reference: OperationId,
    },
    /// The operation is not a call of a stub, or it is one of a generation that was purged (B12).
    NotAStub {
        /// The reference.
        reference: OperationId,
    },
    /// The operation is a call of another stub (B12).
    OtherStub {
        /// The reference.
        reference: OperationId,
        /// The name of the stub that it calls.
        is: String,
        /// The name of the one that it was taken for.
        given: String,
    },
    /// The value is not of the type of the stub, which is still offered (B12).
    WrongType {
        /// The reference.
        reference: OperationId,
        /// The name of the stub.
        stub: String,
        /// The type.
        expected: &'static str,
        /// What is wrong with the value, and where.
        error: DecodeError,
    },
    /// The operation was completed with another value (B4, B5, B7).
    Conflict {
        /// The reference.
        reference: OperationId,
        /// The name of the stub.
        stub: String,
        /// The digest of the value that it has.
        recorded: Box<Digest>,
        /// The digest of the one that was given.
        given: Box<Digest>,
    },
    /// The run waits no more for the operation, and it was not completed before (B11).
    Closed {
        /// The reference.
        reference: OperationId,
        /// The name of the stub.
        stub: String,
        /// Since when.
        at: Timestamp,
        /// How the run has ended, if it has.
        ended: Option<Ended>,
    },
    /// The value is longer than what is stored of one.
    TooLarge {
        /// The reference.
        reference: OperationId,
        /// How many bytes it has.
        size: u64,
        /// How many it may have.
        limit: u64,
    },
    /// The value has something that cannot be stored.
    Unstorable {
        /// The reference.
        reference: OperationId,
        /// What.
        error: EncodeError,
    },
    /// It may be done or not: the answer was lost (S4). The same value can be given again.
    Unacknowledged {
        /// The reference.
        reference: OperationId,
        /// What happened.
        reason: String,
    },
    /// The store or the engine could not do it.
    Unavailable(Unavailable),
}

/// How a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// How.
    pub status: Status,
    /// When.
    pub at: Timestamp,
}

impl Ended {
    /// In words, after the name of the run.
    pub(super) fn verb(self) -> &'static str {
        match self.status {
            Status::Failed => "failed",
            Status::Migrated => "was migrated to another one",
            _ => "completed",
        }
    }
}

impl FulfilError {
    pub(crate) fn of(reference: OperationId, refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoRun { run } => Self::RunNotFound { run },
            Refusal::Finished { .. } => Self::Purged { reference },
            Refusal::NoSuchOffer { .. } => Self::NoSuchOperation { reference },
            Refusal::NotAnOffer { .. } => Self::NotAStub { reference },
            Refusal::OtherOffer(other) => Self::OtherStub {
                reference,
                is: other.name,
                given: other.given,
            },
            Refusal::OfferTaken(taken) => Self::Conflict {
                reference,
                stub: taken.name,
                recorded: taken.known.into(),
                given: taken.given.into(),
            },
            other => Self::Unavailable(StoreError::Refused(other).into()),
        }
    }

    /// What was handed to the store, and then this happened.
    pub(crate) fn lost(reference: OperationId, error: Unavailable) -> Self {
        match error.lost() {
            Some(reason) => Self::Unacknowledged { reference, reason },
            None => Self::Unavailable(error),
        }
    }

    pub(super) fn unstorable(reference: OperationId, error: EncodeError) -> Self {
        match error {
            EncodeError::TooLarge { size, limit } => Self::TooLarge {
                reference,
                size: size as u64,
                limit: limit as u64,
            },
            error => Self::Unstorable { reference, error },
        }
    }
}

impl fmt::Display for FulfilError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidReference(error) => write!(f, "{error}"),
            Self::OtherRun { reference, run } => write!(
                f,
                "{reference} is an operation of run {}, and not of run {run}\n\n\
                 help: use the handle of run {}, or the client, which takes a reference of any run",
                reference.run, reference.run
            ),
            Self::RunNotFound { run } => write!(
                f,
                "nothing was completed, since there is no run {run}\n\n\
                 help: a reference belongs to a namespace: use the client of that one; `client.waiting()` shows what \
                 its runs wait for"
            ),
            Self::Purged { reference } => write!(
                f,
                "{reference} was not completed, since its run has ended and was purged: what became of its operations \
                 is not known any more"
            ),
            Self::NoSuchOperation { reference } => write!(
                f,
                "{reference} was not completed, since its run has not come to it\n\n\
                 help: `client.offers(..)` shows what the run waits for, with the references"
            ),
            Self::NotAStub { reference } => write!(
                f,
                "{reference} was not completed, since it is not a call of a stub, or not one that is kept\n\n\
                 help: only a call of a function with `#[stub]` is completed from outside; `client.offers(..)` shows \
                 those of a run"
            ),
            Self::OtherStub {
                reference,
                is,
                given,
            } => write!(
                f,
                "{reference} was not completed, since it is a call of `{}`, and was taken for one of `{}`\n\n\
                 help: name the stub that it calls; `client.offers(..)` shows what the run waits for",
                is.escape_debug(),
                given.escape_debug()
            ),
            Self::WrongType {
                reference,
                stub,
                expected,
                error,
            } => write!(
                f,
                "{reference} was not completed, since `{}` takes a value of type `{expected}`, and this is none: {}\n\n\
                 help: nothing was stored; give it a value of that type",
                stub.escape_debug(),
                error.problem
            ),
            Self::Conflict {
                reference,
                stub,
                recorded,
                given,
            } => write!(
                f,
                "{reference} (`{}`) was completed with another value before: that one has the digest {}…, this one \
                 has {}…\n\n\
                 help: what was taken first stands, and the run goes on with it; `client.offers(..)` shows what it \
                 waits for now",
                stub.escape_debug(),
                cut(&recorded.to_string()),
                cut(&given.to_string())
            ),
            Self::Closed {
                reference,
                stub,
                ended: Some(ended),
                ..
            } => write!(
                f,
                "{reference} (`{}`) was not completed, since its run {} at {}\n\n\
                 help: `client.status(..)` shows how the run stands",
                stub.escape_debug(),
                ended.verb(),
                ended.at
            ),
            Self::Closed {
                reference,
                stub,
                at,
                ended: None,
            } => write!(
                f,
                "{reference} (`{}`) was not completed, since its run waits no more for it since {at}: its time was \
                 over, or the run has gone another way\n\n\
                 help: `client.offers(..)` shows what the run waits for now",
                stub.escape_debug()
            ),
            Self::TooLarge {
                reference,
                size,
                limit,
            } => write!(
                f,
                "{reference} was not completed, since the value is {size} bytes long; at most {limit} can be stored\n\n\
                 help: store the data elsewhere and give its address or digest"
            ),
            Self::Unstorable { reference, error } => {
                write!(f, "{reference} was not completed: {error}")
            }
            Self::Unacknowledged { reference, reason } => write!(
                f,
                "it is not known whether {reference} was completed: {reason}\n\n\
                 help: give it the same value again; that does no harm if it has it"
            ),
            Self::Unavailable(error) => write!(f, "{error}"),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for FulfilError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for FulfilError {}
