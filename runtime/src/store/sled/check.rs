//! Looking at what is stored without believing it: the last commits and the newest records at every
//! opening, everything when asked.

use std::ops::Bound;

use ::sled::{Db, IVec};
use perennial::history::decode_unit;
use perennial::wire::RecordError;

use super::batch::{RING, read_last};
use super::keys::{self, Key};
use super::problem::{damaged, sled_error};
use super::records::{
    ATTEMPT_VERSION, BLOCKED_VERSION, NUMBER_VERSION, UNIT_VALUE_VERSION, read_attempt,
    read_blocked, read_number,
};
use super::run::{Kind, RUN_VERSION, RunRecord};
use super::{read, value};
use crate::store::StoreError;

fn get(db: &Db, key: &[u8]) -> Result<Option<IVec>, StoreError> {
    db.get(key).map_err(|error| sled_error(&error))
}

/// The last commit, and the one that is missing before it, if one is.
type Last = Result<u64, (u64, u64)>;

/// The number of the last commit, 0 if there is none. Each of the last 64 must be there.
pub(super) fn commits(db: &Db) -> Result<Last, StoreError> {
    let mut found = Vec::new();
    for entry in db.scan_prefix(keys::LAST) {
        let (_, value) = entry.map_err(|error| sled_error(&error))?;
        let (commit, _) = read_last(&value)
            .map_err(|problem| damaged("the record of a commit".into(), problem))?;
        found.push(commit);
    }
    found.sort_unstable();
    let last = found.last().copied().unwrap_or(0);
    let first = last.saturating_sub(RING - 1).max(1);
    Ok(
        match (first..=last).find(|commit| found.binary_search(commit).is_err()) {
            Some(missing) => Err((missing, last)),
            None => Ok(last),
        },
    )
}

/// The last number given to an owner.
pub(super) fn owners(db: &Db) -> Result<u64, StoreError> {
    let Some(value) = get(db, keys::OWNERS)? else {
        return Ok(0);
    };
    value::read(
        db,
        &value,
        NUMBER_VERSION,
        || "the number of owners".into(),
        read_number,
    )
}

/// Reads the newest records: those that the records of the last commits name.
pub(super) fn newest(db: &Db, last: u64) -> Result<(), StoreError> {
    for commit in last.saturating_sub(RING - 1).max(1)..=last {
        let place = u8::try_from(commit % RING).unwrap_or_default();
        let Some(value) = get(db, &keys::last(place))? else {
            continue;
        };
        let (commit, written) = read_last(&value)
            .map_err(|problem| damaged(format!("the record of commit {commit}"), problem))?;
        for key in written {
            let place = || place_of(&key);
            let missing = || {
                damaged(
                    place(),
                    RecordError::Damaged {
                        problem: "it is missing",
                    },
                )
            };
            let value = get(db, &key)?.ok_or_else(missing)?;
            record(db, &key, &value)?;
            let opened =
                value::opened(&value, u8::MAX).map_err(|problem| damaged(place(), problem))?;
            if opened.commit < commit {
                return Err(damaged(
                    place(),
                    RecordError::Damaged {
                        problem: "it is an older version",
                    },
                ));
            }
        }
    }
    Ok(())
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
        (Some(keys::BLOCKED), _, Some((run, _))) => format!("a blocked record of run {run}"),
        _ => format!("the record `{}`", key.escape_ascii()),
    }
}

/// Reads one record and everything that belongs to it.
fn record(db: &Db, key: &[u8], stored: &[u8]) -> Result<(), StoreError> {
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
            let run = value::read(db, stored, RUN_VERSION, place, RunRecord::read)?;
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
        Some(keys::UNIT) => value::read(db, stored, UNIT_VALUE_VERSION, place, |record| {
            fits(decode_unit(record)?.number)
        }),
        Some(keys::TASK) => apart(db, Kind::Task, stored, number, place),
        Some(keys::ROW) => apart(db, Kind::Row, stored, number, place),
        Some(keys::TIMER) => apart(db, Kind::Timer, stored, number, place),
        Some(keys::ATTEMPT) => value::read(db, stored, ATTEMPT_VERSION, place, |content| {
            read_attempt(content).map(drop)
        }),
        Some(keys::BLOCKED) => value::read(db, stored, BLOCKED_VERSION, place, |content| {
            read_blocked(content).map(drop)
        }),
        Some(keys::WORK | keys::END) => value::read(db, stored, NUMBER_VERSION, place, |content| {
            read_number(content).map(drop)
        }),
        Some(keys::DUE) => value::opened(stored, NUMBER_VERSION)
            .map(drop)
            .map_err(|problem| damaged(place(), problem)),
        Some(keys::CHUNK) => value::chunk(stored, |_| ())
            .map(drop)
            .map_err(|problem| damaged(place(), problem)),
        Some(_) if key.starts_with(keys::LAST) => read_last(stored)
            .map(drop)
            .map_err(|problem| damaged(place(), problem)),
        Some(_) if key == keys::OWNERS => owners(db).map(drop),
        Some(_) if key == keys::PENDING => Ok(()),
        _ => Err(damaged(place(), RecordError::Malformed { field: "key" })),
    }
}

fn apart(
    db: &Db,
    kind: Kind,
    stored: &[u8],
    number: u64,
    place: impl Fn() -> String,
) -> Result<(), StoreError> {
    value::read(db, stored, kind.version(), place, |content| {
        read::thing(kind, content, |found| found == number)
    })
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
    db: &Db,
    after: Option<&Key>,
    limit: usize,
    report: &mut Report,
) -> Result<(Option<Key>, Vec<perennial::RunKey>), StoreError> {
    let from = after.map_or(Bound::Unbounded, |key| Bound::Excluded(key.clone()));
    let (mut last, mut runs) = (None, Vec::new());
    for entry in db.range((from, Bound::Unbounded)).take(limit) {
        let (key, stored) = entry.map_err(|error| sled_error(&error))?;
        report.records += 1;
        match record(db, &key, &stored) {
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
