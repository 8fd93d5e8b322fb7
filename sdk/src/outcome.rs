//! How operations end (S18, S29).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The run was cancelled while it waited. Every operation's result can say so (S29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the run was cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// How a `pure` or `idempotent` activity ended that has no result.
///
/// `R` is the activity's own type for a final "no", from [`Failure::reject`](crate::Failure::reject) or a
/// plain `Err`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActivityError<R = Never> {
    /// It said no, finally.
    Rejected(R),
    /// Each attempt failed, and its [`Retry`](crate::Retry) allows no more.
    RetriesExhausted {
        /// What the last attempt said.
        last: String,
        /// How many attempts there were.
        attempts: u32,
    },
    /// Its overall deadline passed.
    TimedOut,
    /// The run was cancelled, or the activity was.
    Cancelled,
    /// Its input or its result is larger than a history takes (1 MiB, S15).
    TooLarge {
        /// The size in bytes.
        size: u64,
        /// The bound in bytes.
        limit: u64,
    },
    /// A budget was spent.
    Exhausted(Spent),
}

impl<R: fmt::Display> fmt::Display for ActivityError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(why) => why.fmt(f),
            Self::RetriesExhausted { last, attempts: 1 } => {
                write!(f, "the only attempt failed: {last}")
            }
            Self::RetriesExhausted { last, attempts } => {
                write!(
                    f,
                    "all {attempts} attempts failed, the last one with: {last}"
                )
            }
            Self::TimedOut => f.write_str("the activity's overall deadline passed"),
            Self::Cancelled => f.write_str("the activity was cancelled"),
            Self::TooLarge { size, limit } => {
                write!(
                    f,
                    "the activity's input or result is {size} bytes long; at most {limit} can be stored"
                )
            }
            Self::Exhausted(spent) => spent.fmt(f),
        }
    }
}

impl<R: fmt::Debug + fmt::Display> std::error::Error for ActivityError<R> {}

/// How an activity ended whose effects cannot simply be repeated (S18).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an outcome that is not looked at may be unknown"]
pub enum Outcome<T, R = Never> {
    /// It has a result.
    Completed(T),
    /// It said no, finally.
    Rejected(R),
    /// Nobody knows whether it happened.
    OutcomeUnknown(Effect),
    /// The run was cancelled, or the activity was.
    Cancelled,
    /// Its overall deadline passed.
    TimedOut,
    /// Each attempt failed, and its [`Retry`](crate::Retry) allows no more.
    RetriesExhausted {
        /// What the last attempt said.
        last: String,
        /// How many attempts there were.
        attempts: u32,
    },
    /// Its input or its result is larger than a history takes (1 MiB, S15).
    TooLarge {
        /// The size in bytes.
        size: u64,
        /// The bound in bytes.
        limit: u64,
    },
    /// A budget was spent.
    Exhausted(Spent),
}

/// An effect of which nobody knows whether it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    operation: u64,
}

impl Effect {
    /// The number of the operation.
    #[must_use]
    pub fn operation(&self) -> u64 {
        self.operation
    }
}

/// The amounts that were spent when a budget ran out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    unit: String,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the budget of {} is spent", self.unit)
    }
}

/// What cannot be: the rejection of an activity that never rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Never {}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl std::error::Error for Never {}

impl Serialize for Never {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        match *self {}
    }
}

impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom(
            "there is no value of the type `Never`",
        ))
    }
}
