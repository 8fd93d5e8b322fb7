//! What a run has from another one of which it is a fork (M43): its history up to some event, and with that the numbers
//! that are counted on from there. Its queue is its own, and empty.

use perennial::history::{Observation, Started, Unit};

use super::inbox::told;
use super::stream::StreamRange;

/// What the head of a fork begins with.
#[derive(Debug, Default)]
pub(super) struct Inherited {
    /// The greatest number of a message or signal in the history: those that the run is told have greater ones.
    pub(super) arrivals: u64,
    /// How far its streams were before the history began.
    pub(super) streams: Vec<StreamRange>,
}

/// What a run has that begins with these units; nothing where it is no fork.
pub(super) fn inherited(units: &[Unit]) -> Inherited {
    let started = units.first().and_then(started);
    let Some(started) = started.filter(|started| started.inherited() > 0) else {
        return Inherited::default();
    };
    let numbers = units.iter().filter_map(|unit| told(&unit.observation));
    let streams = started.streams.iter();
    Inherited {
        arrivals: numbers.map(|(_, told)| told.number).max().unwrap_or(0),
        streams: streams
            .map(|stream| StreamRange {
                name: stream.name.clone(),
                first: stream.last.saturating_add(1),
                last: stream.last,
            })
            .collect(),
    }
}

fn started(unit: &Unit) -> Option<&Started> {
    match &unit.observation {
        Observation::Started(started) => Some(started),
        _ => None,
    }
}
