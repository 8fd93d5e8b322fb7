//! What runs give out in streams: how far each stream is, and which items belong on a page (S28).
//!
//! An item is a decision in the history and stands there alone. A store keeps beside it an index: for each unit and
//! each stream in which it has items, the number of the first of them. So an item is found without its history being
//! read, and what is read of a stream goes as the history goes: with the purge of the run.

use perennial::history::{Decision, StreamEnd, Unit};
use perennial::value::Value;
use perennial::{MAX_STREAMS, RunKey, Timestamp, is_channel_name};
use serde::{Deserialize, Serialize};

use super::{Refusal, StoreError};

/// A stream of a run, as the run's head has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamRange {
    /// Its name.
    pub name: String,
    /// The number of the first item that is kept: those before it were purged. Where none is kept, the one after
    /// the last.
    pub first: u64,
    /// The number of the last item that was given out.
    pub last: u64,
}

impl From<&StreamRange> for StreamEnd {
    fn from(stream: &StreamRange) -> Self {
        Self {
            name: stream.name.clone(),
            last: stream.last,
        }
    }
}

/// An item of a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamItem {
    /// Its number in the stream, from 1 and without gaps, over all generations of the run.
    pub number: u64,
    /// When the run gave it out: the stamp of the unit.
    pub at: Timestamp,
    /// In which generation.
    pub generation: u64,
    /// The number of the event that says so.
    pub event: u64,
    /// The item.
    pub value: Value,
}

/// Where a run's streams stand after a unit. Its items must follow on those before.
pub(super) fn count(
    run: &RunKey,
    streams: &mut Vec<StreamRange>,
    unit: &Unit,
) -> Result<(), StoreError> {
    let inconsistent = |problem| {
        let run = run.clone();
        Err(StoreError::Refused(Refusal::Inconsistent { run, problem }))
    };
    for (_, name, number, _) in items(unit) {
        match streams.iter_mut().find(|stream| stream.name == name) {
            Some(stream) if stream.last.checked_add(1) == Some(number) => stream.last = number,
            None if number > 0 && is_channel_name(name) => {
                streams.push(StreamRange {
                    name: name.to_owned(),
                    first: number,
                    last: number,
                });
            }
            None => return inconsistent("an item of a stream that cannot be"),
            Some(_) => return inconsistent("an item of a stream that does not follow on the last"),
        }
    }
    if streams.len() > MAX_STREAMS {
        return Err(StoreError::TooLarge {
            what: "the list of the streams of a run",
            size: streams.len() as u64,
            limit: MAX_STREAMS as u64,
        });
    }
    Ok(())
}

/// The same of a run that gives them out, whose streams begin with 1.
pub(super) fn count_on(
    run: &RunKey,
    streams: &mut Vec<StreamRange>,
    unit: &Unit,
) -> Result<(), StoreError> {
    let before = streams.len();
    count(run, streams, unit)?;
    if streams[before..].iter().any(|stream| stream.first != 1) {
        let (run, problem) = (run.clone(), "a stream that does not begin with 1");
        return Err(StoreError::Refused(Refusal::Inconsistent { run, problem }));
    }
    Ok(())
}

/// The items of a unit: event, stream, number, value.
fn items(unit: &Unit) -> impl Iterator<Item = (u64, &str, u64, &Value)> {
    let events = unit.number.saturating_add(1)..;
    events
        .zip(&unit.decisions)
        .filter_map(|(event, decision)| match decision {
            Decision::Emitted {
                stream,
                number,
                value,
                ..
            } => Some((event, &**stream, *number, value)),
            _ => None,
        })
}

/// What the index has of a unit: each stream of which it has items, with the number of the first.
pub(super) fn entries(unit: &Unit) -> Vec<(&str, u64)> {
    let mut entries: Vec<(&str, u64)> = Vec::new();
    for (_, stream, number, _) in items(unit) {
        if entries.iter().all(|(known, _)| *known != stream) {
            entries.push((stream, number));
        }
    }
    entries
}

/// Nothing is kept of them any more but how far they were.
pub(super) fn purged(streams: &mut [StreamRange]) {
    for stream in streams {
        stream.first = stream.last.saturating_add(1);
    }
}

/// What is wrong with the streams in a head that was not made here.
pub(super) fn problem(streams: &[StreamRange], most: u64) -> Option<&'static str> {
    let fits = |stream: &StreamRange| {
        let StreamRange { name, first, last } = stream;
        is_channel_name(name) && *last <= most && *last > 0 && (1..=last + 1).contains(first)
    };
    let mut names: Vec<_> = streams.iter().map(|stream| &stream.name).collect();
    names.sort();
    names.dedup();
    if streams.len() > MAX_STREAMS {
        Some("more streams than a run may have")
    } else if !streams.iter().all(fits) {
        Some("a stream that cannot be")
    } else if names.len() < streams.len() {
        Some("two streams of one name")
    } else {
        None
    }
}

/// Where a page of a stream begins: the number of its first item. `None`: there is nothing.
pub(super) fn start(stream: &StreamRange, after: u64, limit: usize) -> Option<u64> {
    let from = after.saturating_add(1).max(stream.first);
    (from <= stream.last && limit > 0).then_some(from)
}

/// A page of a stream from number `from` on, out of the units that have items of it: the last one that begins at or
/// before that, and those after it. Nothing is skipped (S5).
pub(super) fn page(
    run: &RunKey,
    stream: &StreamRange,
    from: u64,
    limit: usize,
    units: impl Iterator<Item = Result<(u64, Unit), StoreError>>,
) -> Result<Vec<StreamItem>, StoreError> {
    let mut page = Vec::new();
    let mut next = from;
    for unit in units {
        let (generation, unit) = unit?;
        for (event, name, number, value) in items(&unit) {
            if name != stream.name || number < next || page.len() == limit {
                continue;
            }
            if number > next || number > stream.last {
                break;
            }
            next += 1;
            page.push(StreamItem {
                number,
                at: unit.at,
                generation,
                event,
                value: value.clone(),
            });
        }
        if page.len() == limit || next > stream.last {
            return Ok(page);
        }
    }
    Err(missing(run, &stream.name, next))
}

/// An item that there must be is not where the index says, or not in the index.
pub(super) fn missing(run: &RunKey, stream: &str, number: u64) -> StoreError {
    StoreError::Damaged {
        place: place(run, stream, number),
        problem: perennial::wire::RecordError::Damaged {
            problem: "it is missing",
        },
    }
}

/// The words for an item.
pub(super) fn place(run: &RunKey, stream: &str, number: u64) -> String {
    format!(
        "item {number} of stream \"{}\" of run {run}",
        stream.escape_debug()
    )
}
