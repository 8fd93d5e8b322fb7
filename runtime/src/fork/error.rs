//! Why a run was not forked.

use std::fmt;

use perennial::history::ForkedFrom;
use perennial::{Blocked, InvalidId, RunKey, Timestamp};

use crate::error::Unavailable;
use crate::store::StoreError;

/// Why a run was not forked. No run was made, unless it is [`Unavailable`](Self::Unavailable) and says that this is not
/// known; then [`TargetExists`](Self::TargetExists) says the next time what there is.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ForkError {
    /// The new id cannot be one.
    InvalidId(InvalidId),
    /// There is no such run.
    NotFound {
        /// The run.
        run: RunKey,
    },
    /// It was purged: its history is gone.
    Purged {
        /// The run.
        run: RunKey,
        /// When.
        at: Timestamp,
    },
    /// Its history has no such event. A run that was begun by nobody yet has none.
    NoSuchEvent {
        /// The run.
        run: RunKey,
        /// The number that was asked for.
        event: u64,
        /// How many events there are.
        events: u64,
    },
    /// The run has ended with that event: nothing would go on.
    AtEnd {
        /// The run.
        run: RunKey,
        /// The number that was asked for.
        event: u64,
        /// The last event from which it can be forked; 0: there is none.
        last: u64,
    },
    /// There is a run of the new id.
    TargetExists {
        /// That run.
        run: RunKey,
        /// Of which run that one is a fork, if it is one: an earlier try may have made it.
        forked_from: Option<ForkedFrom>,
    },
    /// The code that runs now does not come to where the history was, or there is no such code: the exact error.
    Blocked {
        /// The run.
        run: RunKey,
        /// The number that was asked for.
        event: u64,
        /// What does not fit, and where.
        error: Box<Blocked>,
    },
    /// So much history is not copied.
    TooLarge {
        /// The run.
        run: RunKey,
        /// The number that was asked for.
        event: u64,
        /// The most bytes that a fork may begin with.
        limit: u64,
    },
    /// The store or the engine could not do it.
    Unavailable(Unavailable),
}

impl fmt::Display for ForkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidId(error) => error.fmt(f),
            Self::NotFound { run } => write!(
                f,
                "there is no run {run}\n\nhelp: `client.list()` shows the runs of a namespace"
            ),
            Self::Purged { run, at } => write!(
                f,
                "run {run} was purged {at}, and with it the history that a fork would begin with\n\n\
                 help: an export from before has it; `Builder::retention` says how long runs are kept"
            ),
            Self::NoSuchEvent { run, events: 0, .. } => write!(
                f,
                "run {run} was not forked, since it has no events yet: no program has begun it\n\n\
                 help: start a run with the same input"
            ),
            Self::NoSuchEvent { run, event, events } => write!(
                f,
                "run {run} was not forked from event {event}: it has the events 1 to {events}\n\n\
                 help: name one of them; `client.history(..)` shows them"
            ),
            Self::AtEnd {
                run,
                event,
                last: 0,
            } => write!(
                f,
                "run {run} was not forked from event {event}: it has ended with what it did first, so that nothing would \
                 go on\n\nhelp: start a run with the same input"
            ),
            Self::AtEnd { run, event, last } => write!(
                f,
                "run {run} was not forked from event {event}, with which it has ended: nothing would go on\n\n\
                 help: fork it from event {last} or an earlier one"
            ),
            Self::TargetExists {
                run,
                forked_from: None,
            } => write!(
                f,
                "there is a run {run} already\n\nhelp: choose another id for the fork"
            ),
            Self::TargetExists {
                run,
                forked_from: Some(from),
            } => write!(
                f,
                "there is a run {run} already, which was forked from run {} after event {}\n\n\
                 help: where the answer to an earlier try was lost, this is what it made; choose another id for \
                 another fork",
                from.run, from.last
            ),
            Self::Blocked { run, event, error } => write!(
                f,
                "run {run} was not forked from event {event}, since the code that runs now does not come there. It \
                 stands as it did; a run with its history up to there would be told:\n\n\
                 {error}\n\n\
                 help: fork it from an earlier event, to which this code comes, or in a program that fits"
            ),
            Self::TooLarge { run, event, limit } => write!(
                f,
                "run {run} was not forked from event {event}: its history up to there has more than {limit} bytes\n\n\
                 help: fork it from an earlier event; large values belong elsewhere, with their address in the history"
            ),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for ForkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ForkError {}

impl From<InvalidId> for ForkError {
    fn from(error: InvalidId) -> Self {
        Self::InvalidId(error)
    }
}

impl From<StoreError> for ForkError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}
