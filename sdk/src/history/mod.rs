//! Histories: what happened to a run, in order, as events.
//!
//! A history is a sequence of *units*. A unit is one observation (something that the world caused) and the
//! decisions that the workflow made when it was fed that observation. Events are numbered from 1, through
//! all units of a generation.

mod decision;
mod encode;
mod event;
mod json;
mod layout;
mod observation;
mod site;
mod text;

pub use decision::{CallSite, Channel, Close, Decision, OpenOperation, RecordSource};
pub use encode::{UNIT_VERSION, decode_unit, encode_unit};
pub(crate) use event::TEST_ARTIFACT;
pub use event::{Event, SEMANTICS, Unit};
pub use json::NotAHistory;
pub use observation::{
    ActivityFailure, ForkedFrom, Migrated, Observation, SlotResult, Started, StreamEnd, Told,
};
pub use text::{Render, render};

use serde::{Deserialize, Serialize};

use crate::RunKey;

/// The history of one generation of a run. Its JSON form is what `serde_json` makes of it
/// ([`to_json`](Self::to_json), [`from_json`](Self::from_json)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The run.
    pub run: RunKey,
    /// Which generation of the run this is; the first is 1.
    pub generation: u64,
    /// The units, from the first on.
    pub units: Vec<Unit>,
}

impl History {
    /// How many events there are.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.units.last().map_or(0, Unit::last)
    }

    /// All events in order, with their numbers.
    pub fn events(&self) -> impl Iterator<Item = (u64, Event<'_>)> {
        self.units.iter().flat_map(Unit::events)
    }

    /// The stable text of the history: no times, no ids, no lines of source (see [`render`]).
    #[must_use]
    pub fn text(&self) -> String {
        render(&self.units, Render::default())
    }
}
