//! Histories as JSON texts.

use std::fmt;

use super::History;
use crate::prose::shorten;

/// The longest text of a problem, in bytes: it may quote what was found.
const MAX_PROBLEM: usize = 400;

/// A text that is no history.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotAHistory {
    /// The line, from 1; 0 where it is not known.
    pub line: usize,
    /// The byte within the line, from 1; 0 where it is not known.
    pub column: usize,
    /// What does not fit, and what was expected.
    pub problem: String,
}

impl fmt::Display for NotAHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self {
                line: 0, problem, ..
            } => write!(f, "not a history: {problem}"),
            Self {
                line,
                column,
                problem,
            } => write!(f, "not a history: line {line}, byte {column}: {problem}"),
        }
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for NotAHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NotAHistory {}

impl History {
    /// The history as a JSON text of some lines, so that a later one can be compared with it. Values stand in
    /// it to the byte.
    ///
    /// # Errors
    ///
    /// [`NotAHistory`]: a value is no JSON, as only one can be that somebody else has put into a store.
    pub fn to_json(&self) -> Result<String, NotAHistory> {
        let mut text =
            serde_json::to_string_pretty(self).map_err(|error| NotAHistory::of(&error))?;
        text.push('\n');
        Ok(text)
    }

    /// The history that a JSON text holds.
    ///
    /// # Errors
    ///
    /// [`NotAHistory`] with the line: it is no JSON, something is missing or of another type, an event is of
    /// a kind that is not known, a value could not have been stored.
    pub fn from_json(text: &str) -> Result<Self, NotAHistory> {
        serde_json::from_str(text).map_err(|error| NotAHistory::of(&error))
    }
}

impl NotAHistory {
    pub(crate) fn of(error: &serde_json::Error) -> Self {
        let problem = error.to_string();
        // The fields say where.
        let problem = problem
            .rsplit_once(" at line ")
            .map_or(&*problem, |(problem, _)| problem);
        Self {
            line: error.line(),
            column: error.column(),
            problem: shorten(problem.to_owned(), MAX_PROBLEM),
        }
    }
}
