//! What can go wrong where a stream is read.

use std::fmt;

use perennial::RunKey;
use perennial::value::DecodeError;

use crate::error::ReadError;
use crate::store::StoreError;

/// Why there is no next item.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamError {
    /// The run is not there, was purged, or the store could not be read.
    Read(ReadError),
    /// An item is not of the type that it is read as (B18). The next one can be read all the same.
    Undecodable {
        /// The run.
        run: RunKey,
        /// The name of the stream.
        stream: String,
        /// The number of the item.
        number: u64,
        /// What does not fit.
        error: DecodeError,
    },
    /// The items that come next are not kept: they were purged before the run began anew.
    Missed {
        /// The run.
        run: RunKey,
        /// The name of the stream.
        stream: String,
        /// The number after which it was to go on.
        after: u64,
        /// The first number that is kept.
        first: u64,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Undecodable {
                run,
                stream,
                number,
                error,
            } => write!(
                f,
                "item {number} of stream \"{}\" of run {run} is not of the type that it is read as: {error}\n\n\
                 help: read it as the program that gave it out did, or as JSON, with `client.stream_json(..)`; for \
                 another type of item declare a stream of another name",
                stream.escape_debug()
            ),
            Self::Missed {
                run,
                stream,
                after,
                first,
            } => write!(
                f,
                "after item {after} of stream \"{}\" of run {run} comes item {first}: those between were purged before \
                 the run began anew\n\n\
                 help: go on with what there is: `.after({})`",
                stream.escape_debug(),
                first.saturating_sub(1)
            ),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for StreamError {}

impl From<ReadError> for StreamError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<StoreError> for StreamError {
    fn from(error: StoreError) -> Self {
        Self::Read(error.into())
    }
}
