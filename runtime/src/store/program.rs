//! The programs that a store has had: what each of them could run. A plan reads from this which of them fits a
//! run that another one cannot go on with.

use perennial::Timestamp;
use perennial::value::Value;
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::rules::{MAX_TEXT_BYTES, check, check_name};

/// So many programs are kept; with one more the oldest goes.
pub const MAX_PROGRAMS: usize = 100;

/// A program that has had the store open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramRecord {
    /// Its name in histories and errors, of at most [`MAX_NAME_BYTES`](super::MAX_NAME_BYTES).
    pub artifact: String,
    /// What it can run: a [`Manifest`](crate::Manifest), as JSON of at most [`MAX_TEXT_BYTES`].
    pub manifest: Value,
    /// When that was recorded.
    pub at: Timestamp,
}

impl ProgramRecord {
    /// Whether it is within its bounds (S15).
    pub(super) fn check(&self) -> Result<(), StoreError> {
        check_name("the name of an artifact", &self.artifact)?;
        check(
            "the manifest of a program",
            self.manifest.as_json().len(),
            MAX_TEXT_BYTES,
        )
    }
}

/// The order in which programs are told: the newest first.
pub(super) fn sort(programs: &mut [ProgramRecord]) {
    programs.sort_by(|one, other| (other.at, &one.artifact).cmp(&(one.at, &other.artifact)));
}

/// Which of the others go when a program is recorded: `others` are their times and what names them.
pub(super) fn evicted<K: Ord>(mut others: Vec<(Timestamp, K)>) -> Vec<K> {
    let most = MAX_PROGRAMS - 1;
    if others.len() <= most {
        return Vec::new();
    }
    others.sort();
    others.truncate(others.len() - most);
    others.into_iter().map(|(_, key)| key).collect()
}
