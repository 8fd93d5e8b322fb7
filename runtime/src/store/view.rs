//! What runs show of themselves: the last value of each view, beside the history and in no part of it (S28).

use perennial::value::Value;
use perennial::{MAX_VIEWS, Timestamp, is_channel_name};
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::rules::{self, MAX_NAME_BYTES, MAX_TEXT_BYTES};

/// What a view of a run shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewRecord {
    /// The name of the view.
    pub name: String,
    /// The value.
    pub value: Value,
    /// The Rust type of the value, for people: another compiler may call it otherwise.
    #[serde(rename = "type")]
    pub data: String,
    /// The program that has published it.
    pub artifact: String,
    /// When: the stamp of the unit that it came with, or the time at which another program published it again.
    pub at: Timestamp,
    /// The number of the last event that it takes into account.
    pub event: u64,
}

impl ViewRecord {
    /// Stands in [`Loaded::views`](super::Loaded::views) for one that cannot be read: it takes nothing from its run,
    /// whose program publishes it again.
    pub(super) fn unreadable(name: &str, problem: impl std::fmt::Display) -> Self {
        Self {
            name: name.to_owned(),
            value: Value::null(),
            data: format!("it cannot be read: {problem}"),
            artifact: String::new(),
            at: Timestamp::default(),
            event: 0,
        }
    }
}

/// A change to the views of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewChange {
    /// A new view, or what it shows now.
    Put(ViewRecord),
    /// The view of this name is not shown any more: the code has none of it.
    Remove(String),
}

impl ViewChange {
    /// The name of the view.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Put(record) => &record.name,
            Self::Remove(name) => name,
        }
    }
}

impl ViewRecord {
    /// Whether it stays within its bounds (S15).
    pub(super) fn check(&self) -> Result<(), StoreError> {
        rules::check_name("the name of the type of a view", &self.data)?;
        rules::check_name("the name of an artifact", &self.artifact)?;
        let size = self.value.as_json().len();
        rules::check("the value of a view", size, MAX_TEXT_BYTES)?;
        if is_channel_name(&self.name) {
            return Ok(());
        }
        // What is no name may be short: then it has characters that none has.
        Err(StoreError::TooLarge {
            what: "the name of a view",
            size: self.name.len().max(MAX_NAME_BYTES + 1) as u64,
            limit: perennial::MAX_CHANNEL_NAME as u64,
        })
    }
}

/// The names of a run's views after these changes, in the order in which they came.
pub(super) fn change(views: &mut Vec<String>, changes: &[ViewChange]) -> Result<(), StoreError> {
    for change in changes {
        match change {
            ViewChange::Put(record) => {
                record.check()?;
                if !views.contains(&record.name) {
                    views.push(record.name.clone());
                }
            }
            ViewChange::Remove(name) => views.retain(|view| view != name),
        }
    }
    check_count(views.len())
}

fn check_count(views: usize) -> Result<(), StoreError> {
    rules::check("the list of the views of a run", views, MAX_VIEWS)
}

/// What is wrong with the views of a run that was not made here.
pub(super) fn problem(names: &[String], records: &[ViewRecord]) -> Option<&'static str> {
    let mut said: Vec<_> = names.iter().collect();
    let mut there: Vec<_> = records.iter().map(|record| &record.name).collect();
    said.sort();
    there.sort();
    let before = said.len();
    said.dedup();
    if names.len() > MAX_VIEWS {
        Some("more views than a run may have")
    } else if said.len() < before {
        Some("two views of one name")
    } else if said != there {
        Some("other views than its head says")
    } else {
        None
    }
}
