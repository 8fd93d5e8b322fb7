//! What becomes of what a run fulfils an offer with.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{OperationId, RunEnd, Timestamp};

/// Why an offer was not fulfilled by a run ([`Cx::fulfil`](crate::Cx::fulfil)). It is recorded, so that a replay finds
/// the same. Nothing of it was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FulfilFailure {
    /// There is no such run in the namespace of the one that fulfils (M52).
    RunNotFound {
        /// The reference.
        reference: OperationId,
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
    /// It was fulfilled with another value (B4, B5, B7).
    Conflict {
        /// The reference.
        reference: OperationId,
        /// The name of the stub.
        stub: String,
    },
    /// The run waits no more for it, and it was not fulfilled before (B11).
    Closed {
        /// The reference.
        reference: OperationId,
        /// The name of the stub.
        stub: String,
        /// Since when.
        at: Timestamp,
        /// How the run has ended, if it has.
        end: Option<RunEnd>,
    },
    /// The run is there, and what is stored of it cannot be read.
    Unreadable {
        /// The reference.
        reference: OperationId,
        /// What is the matter with it.
        problem: String,
    },
    /// The value is longer than what is stored of one. This is not recorded: it is the same in each replay.
    TooLarge {
        /// How many bytes it has.
        size: u64,
        /// How many it may have.
        limit: u64,
    },
}

impl fmt::Display for FulfilFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunNotFound { reference } => write!(
                f,
                "{reference} was not fulfilled, since there is no run {} in the namespace of the run that fulfils it\n\n\
                 help: a workflow reaches the runs of its own namespace",
                reference.run
            ),
            Self::Purged { reference } => write!(
                f,
                "{reference} was not fulfilled, since its run has ended and was purged: what became of its operations \
                 is not known any more"
            ),
            Self::NoSuchOperation { reference } => write!(
                f,
                "{reference} was not fulfilled, since its run has not come to it\n\n\
                 help: hand on what `offer.reference()` gives, as it is"
            ),
            Self::NotAStub { reference } => write!(
                f,
                "{reference} was not fulfilled, since it is not a call of a stub, or not one that is kept\n\n\
                 help: hand on what `offer.reference()` gives, as it is"
            ),
            Self::OtherStub {
                reference,
                is,
                given,
            } => write!(
                f,
                "{reference} was not fulfilled, since it is a call of `{}`, and was taken for one of `{}`\n\n\
                 help: name the stub that it calls",
                is.escape_debug(),
                given.escape_debug()
            ),
            Self::Conflict { reference, stub } => write!(
                f,
                "{reference} (`{}`) was fulfilled with another value before, which stands",
                stub.escape_debug()
            ),
            Self::Closed {
                reference,
                stub,
                at,
                end,
            } => {
                write!(
                    f,
                    "{reference} (`{}`) was not fulfilled, since its run waits for it no more since {at}",
                    stub.escape_debug()
                )?;
                match end {
                    Some(RunEnd::Completed) => f.write_str(", and has completed"),
                    Some(RunEnd::Failed) => f.write_str(", and has failed"),
                    Some(RunEnd::Migrated { to }) => write!(
                        f,
                        ", and was migrated to run {to}\n\n\
                         help: run {to} goes on in its place, and offers what it waits for under references of its own"
                    ),
                    None => Ok(()),
                }
            }
            Self::Unreadable { reference, problem } => write!(
                f,
                "{reference} was not fulfilled, since what is stored of its run cannot be read: {problem}"
            ),
            Self::TooLarge { size, limit } => write!(
                f,
                "nothing was fulfilled, since the value is {size} bytes long; at most {limit} can be stored\n\n\
                 help: store the data elsewhere and fulfil the offer with its address or digest"
            ),
        }
    }
}

impl std::error::Error for FulfilFailure {}

impl FulfilFailure {
    /// The most bytes that it has when it is encoded, beside numbers and tags.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::RunNotFound { reference }
            | Self::Purged { reference }
            | Self::NoSuchOperation { reference }
            | Self::NotAStub { reference } => reference.run.as_str().len(),
            Self::OtherStub {
                reference,
                is,
                given,
            } => reference.run.as_str().len() + is.len() + given.len(),
            Self::Conflict { reference, stub } => reference.run.as_str().len() + stub.len(),
            Self::Closed {
                reference,
                stub,
                end,
                ..
            } => {
                let to = match end {
                    Some(RunEnd::Migrated { to }) => to.as_str().len(),
                    _ => 0,
                };
                reference.run.as_str().len() + stub.len() + to
            }
            Self::Unreadable { reference, problem } => reference.run.as_str().len() + problem.len(),
            Self::TooLarge { .. } => 0,
        }
    }
}
