//! Units, and what all events have.

use serde::{Deserialize, Serialize};

use super::decision::Decision;
use super::observation::Observation;
use crate::Timestamp;

/// The replay semantics of this engine, named by the first event of each history (S15).
pub const SEMANTICS: u32 = 1;

/// The artifact of the runs that the test kit makes: no program can be started for them, and no store has them.
pub(crate) const TEST_ARTIFACT: &str = "test";

/// The most bytes that the numbers, tags and lengths of an encoded event have.
pub(super) const FRAME: usize = 128;

/// One observation and the decisions that its poll made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// The number of the observation; the decisions have the numbers after it.
    pub number: u64,
    /// The stamp of the observation. It never goes back within a run (S2).
    pub at: Timestamp,
    /// What the world caused.
    pub observation: Observation,
    /// What the workflow decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
}

impl Unit {
    /// The number of the unit's last event.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.number.saturating_add(self.decisions.len() as u64)
    }

    /// The unit's events with their numbers.
    pub fn events(&self) -> impl Iterator<Item = (u64, Event<'_>)> {
        std::iter::once(Event::Observation(&self.observation))
            .chain(self.decisions.iter().map(Event::Decision))
            .enumerate()
            .map(|(at, event)| (self.number.saturating_add(at as u64), event))
    }
}

/// Either kind of event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// The world caused it.
    Observation(&'a Observation),
    /// The workflow caused it.
    Decision(&'a Decision),
}
