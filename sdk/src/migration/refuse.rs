//! Why a run is not moved.

use std::fmt;

use crate::value::{DecodeError, EncodeError};

/// Why a migration does not move a run. Nothing is changed then.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refuse {
    /// The function says so.
    Because {
        /// Why, in its words.
        reason: String,
    },
    /// Something recorded is not of the type that was asked for.
    Undecodable {
        /// What: `the input`, ``a result of `charge_card` ``.
        what: String,
        /// What does not fit.
        error: DecodeError,
    },
    /// Something that was asked for is not recorded.
    Missing {
        /// What.
        what: String,
    },
    /// The new input cannot be stored.
    Unstorable {
        /// Why.
        error: EncodeError,
    },
}

impl Refuse {
    /// Refuses with a reason of the function's own.
    ///
    /// ```
    /// # use perennial::Refuse;
    /// let refused = Refuse::because("it is being shipped");
    /// assert_eq!(refused.to_string(), "it is being shipped");
    /// ```
    pub fn because(reason: impl fmt::Display) -> Self {
        Self::Because {
            reason: reason.to_string(),
        }
    }
}

impl fmt::Display for Refuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Because { reason } => f.write_str(reason),
            Self::Undecodable { what, error } => write!(f, "{what}: {error}"),
            Self::Missing { what } => write!(f, "{what} is not in its history"),
            Self::Unstorable { error } => write!(f, "the new run's input: {error}"),
        }
    }
}

impl std::error::Error for Refuse {}

/// For values that the function decodes itself.
impl From<DecodeError> for Refuse {
    fn from(error: DecodeError) -> Self {
        Self::Undecodable {
            what: "a recorded value".to_owned(),
            error,
        }
    }
}
