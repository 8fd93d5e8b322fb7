//! An error type for workflows that do not need one of their own.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An error as text, with the texts of its causes.
///
/// Any `std::error::Error` becomes one through `?`, [`Cancelled`](crate::Cancelled) and
/// [`ActivityError`](crate::ActivityError) included. Like a message it cannot be matched on: a workflow
/// whose callers must tell errors apart has an enum of its own.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
}

impl Error {
    /// An error that says `message`.
    pub fn new(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            causes: Vec::new(),
        }
    }

    /// The texts of the causes, the nearest first.
    #[must_use]
    pub fn causes(&self) -> &[String] {
        &self.causes
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.causes
            .iter()
            .try_for_each(|cause| write!(f, "\n  caused by: {cause}"))
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        let causes =
            std::iter::successors(error.source(), |cause| cause.source()).map(ToString::to_string);
        Self {
            message: error.to_string(),
            causes: causes.collect(),
        }
    }
}
