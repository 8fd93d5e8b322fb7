//! What is kept of a run that a program could not go on with (S16).

use std::fmt;

use perennial::value::Value;
use perennial::{Incompatible, RunKey, Timestamp};
use serde::{Deserialize, Serialize};

/// That a program could not go on with a run (S16).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockedRecord {
    /// The program.
    pub artifact: String,
    /// The history does not fit the program, and never will.
    pub unfit: bool,
    /// The stable code of the error.
    pub code: String,
    /// The whole text of the error.
    pub text: String,
    /// All fields of the error.
    pub details: Value,
    /// When.
    pub at: Timestamp,
}

impl BlockedRecord {
    /// The code of a record that stands for one that cannot be read.
    pub const UNREADABLE: &'static str = "unreadable";

    /// What stands for a record of a run that cannot be read, and says why. Nothing of a run depends on what it
    /// was blocked with, so that the run itself is read, tried and cleared as if it had no such record.
    ///
    /// It names no program, is not [unfit](Self::unfit), and has the first of all times.
    #[must_use]
    pub fn unreadable(run: &RunKey, problem: impl fmt::Display) -> Self {
        Self {
            artifact: String::new(),
            unfit: false,
            code: Self::UNREADABLE.into(),
            text: format!(
                "a program could not go on with run {run}, but what is recorded of it cannot be read: {problem}\n\n\
                 Nothing else of the run depends on it. The next program that is started tries the run as if nothing \
                 were recorded, and clears the record when the run goes on."
            ),
            details: Value::null(),
            at: Timestamp::default(),
        }
    }

    /// The code of a record that says that the run is to be tried.
    pub const UNBLOCKED: &'static str = "unblocked";

    /// What takes the place of the records of a run that is unblocked while no program has the store open. The run
    /// may wait for nothing but a timer, so that a record must stand for it to be tried before that; it goes as all
    /// of them go when the run goes on (S16).
    #[must_use]
    pub fn unblocked(run: &RunKey, artifact: String, at: Timestamp) -> Self {
        Self {
            artifact,
            unfit: false,
            code: Self::UNBLOCKED.into(),
            text: format!(
                "run {run} was blocked and is to be tried: the next program that is started on the store does so"
            ),
            details: Value::null(),
            at,
        }
    }

    /// Whether it says that the run is to be tried, and no program has said anything since.
    #[must_use]
    pub fn is_unblocked(&self) -> bool {
        self.code == Self::UNBLOCKED
    }

    /// Whether it stands for one that cannot be read.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        self.code == Self::UNREADABLE
    }

    /// The error as data, where it is that the history does not fit the program; `None` for other errors, and for
    /// those of software that had other fields.
    #[must_use]
    pub fn incompatible(&self) -> Option<Incompatible> {
        Incompatible::from_details(&self.details)
    }
}

/// A change to a run's blocked records.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockedChange {
    /// A record, in place of an older one of the same artifact.
    Put(BlockedRecord),
    /// The run goes on: all records are removed.
    Clear,
    /// A record in place of all that there are.
    Replace(BlockedRecord),
}
