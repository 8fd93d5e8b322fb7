//! Looking at what is stored without believing it: the last commits and the newest records at every
//! opening, everything when asked.

use std::ops::Bound;

use perennial::RunKey;
use perennial::history::decode_unit;
use perennial::wire::RecordError;

use super::apply::Applied;
use super::keys::{self, Key};
use super::overlay::View;
use super::problem::damaged;
use super::records::{
    ATTEMPT_VERSION, BLOCKED_VERSION, NUMBER_VERSION, RESTORING_VERSION, UNIT_VALUE_VERSION,
    read_attempt, read_blocked, read_number, read_restoring,
};
use super::run::{Kind, RUN_VERSION, RunRecord};
use super::{read, value};
use crate::store::StoreError;

/// The last number given to an owner.
pub(super) fn owners(view: &View<'_>) -> Result<u64, StoreError> {
    number(view, keys::OWNERS, "the number of owners")
}

/// How many runs there are.
pub(super) fn runs(view: &View<'_>) -> Result<u64, StoreError> {
    number(view, keys::RUNS, "the number of runs")
}

fn number(view: &View<'_>, key: &[u8], place: &str) -> Result<u64, StoreError> {
    match view.get(key)? {
        Some(value) => value::read(
            view,
            &value,
            NUMBER_VERSION,
            || place.to_owned(),
            read_number,
        ),
        None => Ok(0),
    }
}

/// Reads the newest records that sled must have: those that were named when it last took something over.
pub(super) fn newest(view: &View<'_>, applied: &Applied) -> Result<(), StoreError> {
    for (key, commit) in &applied.newest {
        // What is in the journal was checked there.
        if view.is_covered(key) {
            continue;
        }
        let damaged = |problem| damaged(place_of(key), problem);
        let missing = || {
            damaged(RecordError::Damaged {
                problem: "it is missing",
            })
        };
        let value = view.get(key)?.ok_or_else(missing)?;
        record(view, key, &value)?;
        if value::opened(&value, u8::MAX).map_err(damaged)?.commit < *commit {
            return Err(damaged(RecordError::Damaged {
                problem: "it is an older version",
            }));
        }
    }
    Ok(())
}

/// The words for records of a kind, by the first byte of their keys.
pub(super) fn kind_name(kind: u8) -> &'static str {
    match kind {
        keys::RUN => "heads of runs",
        keys::WORK => "index entries of runs with something to do",
        keys::UNIT => "units of histories",
        keys::END => "ends of generations",
        keys::ATTEMPT => "attempts",
        keys::TASK => "tasks",
        keys::ROW => "rows of queues",
        keys::TIMER => "timers",
        keys::BLOCKED => "blocked records",
        keys::DUE => "index entries of timers",
        keys::FINISHED => "index entries of finished runs",
        keys::RESTORING => "restores",
        keys::CHUNK => "chunks",
        _ => "other records",
    }
}

/// The words for a key.
fn place_of(key: &[u8]) -> String {
    let number = || keys::last_number(key).unwrap_or_default();
    let of_run =
        || keys::run_and_rest(key).map(|(run, rest)| (run, keys::number(rest).unwrap_or_default()));
    match (key.first().copied(), keys::run_of(key), of_run()) {
        (Some(keys::RUN), Some(run), _) => format!("the head of run {run}"),
        (Some(keys::WORK), Some(run), _) => format!("the index entry of run {run}"),
        (Some(keys::UNIT), _, Some((run, generation))) => {
            read::unit_place(&run, generation, number())
        }
        (Some(keys::END), _, Some((run, generation))) => {
            format!("the end of generation {generation} of run {run}")
        }
        (Some(keys::TASK), _, Some((run, operation))) => format!("task {operation} of run {run}"),
        (Some(keys::ROW), _, Some((run, arrival))) => {
            format!("row {arrival} of the queue of run {run}")
        }
        (Some(keys::TIMER), _, Some((run, operation))) => format!("timer {operation} of run {run}"),
        (Some(keys::ATTEMPT), _, Some((run, generation))) => {
            format!("an attempt of generation {generation} of run {run}")
        }
        (Some(keys::RESTORING), Some(run), _) => format!("the restore of run {run}"),
        (Some(keys::BLOCKED), _, Some((run, _))) => format!("a blocked record of run {run}"),
        _ => format!("the record `{}`", key.escape_ascii()),
    }
}

/// Reads one record and everything that belongs to it.
fn record(view: &View<'_>, key: &[u8], stored: &[u8]) -> Result<(), StoreError> {
    let place = || place_of(key);
    let number = keys::last_number(key).unwrap_or_default();
    let fits = |found: u64| {
        if found == number {
            Ok(())
        } else {
            Err(RecordError::Malformed { field: "number" })
        }
    };
    match key.first().copied() {
        Some(keys::RUN) => {
            let run = value::read(view, stored, RUN_VERSION, place, RunRecord::read)?;
            for kind in Kind::ALL {
                for (number, content) in &run.things(kind).beside {
                    let fits = |found| found == *number;
                    read::thing(kind, content, fits).map_err(|problem| {
                        damaged(format!("{} {number} in {}", kind.name(), place()), problem)
                    })?;
                }
            }
            Ok(())
        }
        Some(keys::UNIT) => value::read(view, stored, UNIT_VALUE_VERSION, place, |record| {
            fits(decode_unit(record)?.number)
        }),
        Some(keys::TASK) => apart(view, Kind::Task, stored, number, place),
        Some(keys::ROW) => apart(view, Kind::Row, stored, number, place),
        Some(keys::TIMER) => apart(view, Kind::Timer, stored, number, place),
        Some(keys::ATTEMPT) => value::read(view, stored, ATTEMPT_VERSION, place, |content| {
            read_attempt(content).map(drop)
        }),
        Some(keys::BLOCKED) => value::read(view, stored, BLOCKED_VERSION, place, |content| {
            read_blocked(content).map(drop)
        }),
        Some(keys::WORK | keys::END) => {
            value::read(view, stored, NUMBER_VERSION, place, |content| {
                read_number(content).map(drop)
            })
        }
        Some(keys::RESTORING) => value::read(view, stored, RESTORING_VERSION, place, |content| {
            read_restoring(content).map(drop)
        }),
        Some(keys::DUE | keys::FINISHED) => value::opened(stored, NUMBER_VERSION)
            .map(drop)
            .map_err(|problem| damaged(place(), problem)),
        Some(keys::CHUNK) => value::chunk(stored, |_| ())
            .map(drop)
            .map_err(|problem| damaged(place(), problem)),
        Some(_) if key == keys::APPLIED => Applied::decode(stored)
            .map(drop)
            .map_err(|problem| damaged(place(), problem)),
        Some(_) if key == keys::OWNERS => owners(view).map(drop),
        Some(_) if key == keys::RUNS => runs(view).map(drop),
        _ => Err(damaged(place(), RecordError::Malformed { field: "key" })),
    }
}

fn apart(
    view: &View<'_>,
    kind: Kind,
    stored: &[u8],
    number: u64,
    place: impl Fn() -> String,
) -> Result<(), StoreError> {
    value::read(view, stored, kind.version(), place, |content| {
        read::thing(kind, content, |found| found == number)
    })
}

/// Whether the run of a unit is there, or is being restored. `seen` is the run that was looked for last.
fn belongs(view: &View<'_>, key: &[u8], seen: &mut Option<RunKey>) -> Result<(), StoreError> {
    if key.first() != Some(&keys::UNIT) {
        return Ok(());
    }
    let Some((run, _)) = keys::run_and_rest(key) else {
        return Ok(());
    };
    if seen.as_ref() == Some(&run) {
        return Ok(());
    }
    let there = view.get(&RunRecord::key(&run))?.is_some()
        || view.get(&keys::one(keys::RESTORING, &run))?.is_some();
    let place = format!("the head of run {run}");
    *seen = Some(run);
    if there {
        Ok(())
    } else {
        Err(damaged(
            place,
            RecordError::Damaged {
                problem: "it is missing",
            },
        ))
    }
}

/// What [`SledStore::verify`](super::SledStore::verify) found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// How many runs there are.
    pub runs: u64,
    /// How many generations they have.
    pub generations: u64,
    /// How many units those have.
    pub units: u64,
    /// How many events those hold.
    pub events: u64,
    /// How many records there are of all kinds.
    pub records: u64,
    /// What is wrong, at most [`Report::MAX_PROBLEMS`] of it.
    pub problems: Vec<StoreError>,
    /// Whether there is more that is wrong.
    pub more_problems: bool,
}

impl Report {
    /// So many problems are told.
    pub const MAX_PROBLEMS: usize = 1_000;

    /// Whether everything is as it was written.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn note(&mut self, problem: StoreError) {
        // A damaged unit is met twice: as a record, and as a part of its history.
        if self.problems.contains(&problem) {
            return;
        }
        if self.problems.len() < Self::MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more_problems = true;
        }
    }
}

/// Reads some records after `after`, and gives the last that it read and the runs among them.
pub(super) fn some_records(
    view: &View<'_>,
    after: Option<&Key>,
    limit: usize,
    report: &mut Report,
) -> Result<(Option<Key>, Vec<RunKey>), StoreError> {
    let from = after.map_or(Bound::Unbounded, |key| Bound::Excluded(key.clone()));
    let (mut last, mut runs) = (None, Vec::new());
    let mut headless = None;
    for entry in view.range(from, Bound::Unbounded).take(limit) {
        let (key, stored) = entry?;
        report.records += 1;
        match record(view, &key, &stored).and_then(|()| belongs(view, &key, &mut headless)) {
            Ok(()) => {}
            Err(error @ StoreError::Io { .. }) => return Err(error),
            Err(error) => report.note(error),
        }
        if key.first() == Some(&keys::RUN) {
            runs.extend(keys::run_of(&key));
        }
        last = Some(key.to_vec());
    }
    Ok((last, runs))
}
