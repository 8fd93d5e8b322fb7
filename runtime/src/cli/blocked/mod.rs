//! `blocked`: which runs of a store that is stopped are blocked, and why (S16).

mod text;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::path::PathBuf;

use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::place::Place;
use super::source::shown;
use super::stopped;
use crate::builder::{Builder, StoreSource};
use crate::store::{BlockedRecord, OpenError, Store, StoreError, runs};

/// So many different errors are kept.
const ERRORS: usize = 1_000;

/// How blocked runs are listed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BlockedOptions {
    /// The folder of the store. Default: the store of the builder.
    pub store: Option<PathBuf>,
    /// How many runs an entry names. Default: 100.
    pub ids: usize,
}

impl Default for BlockedOptions {
    fn default() -> Self {
        Self {
            store: None,
            ids: 100,
        }
    }
}

/// Which runs of a store are blocked, and why.
///
/// As JSON it has the fields as they are here; what comes later are more fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BlockedRuns {
    /// The number of the form: 1.
    pub format: u64,
    /// What was looked at, in words.
    pub source: String,
    /// How many runs are blocked, in all namespaces. Each counts once, however many programs were blocked by it.
    pub count: u64,
    /// What they are blocked with: those with the same error together, the one with the most runs first.
    pub errors: Vec<BlockedError>,
    /// How many records of further errors there are that are not listed.
    pub more: u64,
}

/// Runs that a program could not go on with, for the same reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BlockedError {
    /// The workflow.
    pub workflow: String,
    /// The code of the error; [`BlockedRecord::UNREADABLE`]: what is recorded of it cannot be read.
    pub code: String,
    /// The program that could not go on; empty where that is not known.
    pub artifact: String,
    /// That program can never go on with the runs, and does not try them again.
    pub unfit: bool,
    /// How many runs.
    pub count: u64,
    /// The first of them, in the order of their namespaces and ids: `order-42`, or `namespace/order-42` outside the
    /// default namespace.
    pub runs: Vec<String>,
    /// When the last of them was blocked.
    pub at: Timestamp,
    /// The error of the first run.
    pub error: String,
    /// All fields of that error.
    pub details: Value,
}

/// Why blocked runs were not listed.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum BlockedListError {
    /// The store cannot be opened.
    Open(OpenError),
    /// The store cannot be read.
    Store(StoreError),
}

impl fmt::Display for BlockedListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => stopped::not_opened(f, error, "client.list().blocked(true)"),
            Self::Store(error) => write!(f, "the store cannot be read: {error}"),
        }
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for BlockedListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BlockedListError {}

impl From<OpenError> for BlockedListError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<StoreError> for BlockedListError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl BlockedRuns {
    /// As JSON, over several lines and with a line end.
    #[must_use]
    pub fn to_json(&self) -> String {
        // It has no keys that are no texts, and no numbers that JSON has not.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_else(|_| "null".to_owned());
        text.push('\n');
        text
    }
}

/// Lists the blocked runs of a store. One in a folder is opened, and refused while it is in use; nothing is changed
/// in it.
///
/// # Errors
///
/// [`BlockedListError`].
pub fn blocked(
    builder: &Builder,
    options: &BlockedOptions,
) -> Result<BlockedRuns, BlockedListError> {
    let source = match (&options.store, &builder.store) {
        (Some(folder), _) | (None, StoreSource::Folder(folder)) => {
            format!("the store {}", shown(folder))
        }
        (None, StoreSource::Store(_)) => "the store of this program".to_owned(),
    };
    stopped::with(builder, options.store.clone(), |store| {
        gather(store, source, options.ids)
    })
}

fn gather(store: &dyn Store, source: String, ids: usize) -> Result<BlockedRuns, BlockedListError> {
    let mut groups: BTreeMap<(Place, String), BlockedError> = BTreeMap::new();
    let (mut count, mut more) = (0, 0);
    runs::each_blocked(store, |run, head| {
        count += 1;
        for record in store.blocked(&run)? {
            let full = groups.len() >= ERRORS;
            let place = Place::of_record(&head.workflow, &record);
            match groups.entry((place, record.artifact.clone())) {
                Entry::Occupied(group) => group.into_mut().add(&run, record.at, ids),
                Entry::Vacant(_) if full => more += 1,
                Entry::Vacant(place) => {
                    let at = record.at;
                    let group = BlockedError::of(head.workflow.clone(), record);
                    place.insert(group).add(&run, at, ids);
                }
            }
        }
        Ok::<(), BlockedListError>(())
    })?;
    let mut errors: Vec<_> = groups.into_values().collect();
    errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    Ok(BlockedRuns {
        format: 1,
        source,
        count,
        errors,
        more,
    })
}

impl BlockedError {
    /// The error of a record, as yet without its run.
    fn of(workflow: String, record: BlockedRecord) -> Self {
        Self {
            workflow,
            code: record.code,
            artifact: record.artifact,
            unfit: record.unfit,
            count: 0,
            runs: Vec::new(),
            at: record.at,
            error: record.text,
            details: record.details,
        }
    }

    fn add(&mut self, run: &RunKey, at: Timestamp, ids: usize) {
        self.count += 1;
        self.at = self.at.max(at);
        if self.runs.len() < ids {
            self.runs.push(run.to_string());
        }
    }
}
