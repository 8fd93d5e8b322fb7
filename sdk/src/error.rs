//! An error type for workflows that do not need one of their own.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An error as text, with the texts of its causes.
///
/// Any `std::error::Error` becomes one through `?`, [`Cancelled`](crate::Cancelled) and
/// [`ActivityError`](crate::ActivityError) included. Like a message it cannot be matched on: a workflow
/// whose callers must tell errors apart has an enum of its own. It becomes a `Box<dyn std::error::Error>` through
/// `?`, as the functions of tests and examples often return.
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

/// An [`Error`] where a `std::error::Error` is wanted. It cannot be one itself, since it is made of any.
struct Wrapped(Error);

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for Wrapped {}

impl From<Error> for Box<dyn std::error::Error + Send + Sync> {
    fn from(error: Error) -> Self {
        Box::new(Wrapped(error))
    }
}

impl From<Error> for Box<dyn std::error::Error> {
    fn from(error: Error) -> Self {
        Box::new(Wrapped(error))
    }
}
