//! Whether the indexes say what the records of the runs say. A run that is missing in one is never woken, and
//! nobody would know why.

use perennial::wire::RecordError;
use perennial::{RunKey, Timestamp};

use super::check::place_of;
use super::keys::{self, Key};
use super::overlay::View;
use super::problem::damaged;
use super::read;
use super::run::{Kind, RUN_VERSION, RunRecord};
use super::value;
use crate::store::StoreError;
use crate::store::purge::remains;

/// The record of a run. One that is damaged is told of where it stands, and speaks for nothing here.
enum Record {
    Missing,
    Damaged,
    Whole(Box<RunRecord>),
}

fn record(view: &View<'_>, run: &RunKey) -> Result<Record, StoreError> {
    let Some(stored) = view.get(&RunRecord::key(run))? else {
        return Ok(Record::Missing);
    };
    let read = value::read(view, &stored, RUN_VERSION, String::new, RunRecord::read);
    Ok(read.map_or(Record::Damaged, |record| Record::Whole(Box::new(record))))
}

/// The keys that the indexes must have for a run.
fn entries(view: &View<'_>, run: &RunKey, record: &RunRecord) -> Result<Vec<Key>, StoreError> {
    let mut entries = Vec::new();
    if record.work().is_some() {
        entries.push(keys::one(keys::WORK, run));
    }
    if let Some((remains, at)) = remains(&record.head) {
        entries.push(keys::finished(remains, at, run));
    }
    if record.head.purged.is_none() {
        for (operation, deadline) in read::timers(view, run, record)? {
            entries.push(keys::due(run, operation, deadline));
        }
    }
    Ok(entries)
}

/// Whether all entries of a run are there.
pub(super) fn of_run(view: &View<'_>, run: &RunKey) -> Result<(), StoreError> {
    let Record::Whole(record) = record(view, run)? else {
        return Ok(());
    };
    for key in entries(view, run, &record)? {
        if view.get(&key)?.is_none() {
            let problem = "it is missing";
            return Err(damaged(place_of(&key), RecordError::Damaged { problem }));
        }
    }
    Ok(())
}

/// Whether an entry is there for a reason; other keys are.
pub(super) fn belongs(view: &View<'_>, key: &[u8]) -> Result<(), StoreError> {
    let run = match key.first() {
        Some(&keys::WORK) => keys::run_of(key),
        Some(&keys::FINISHED) => keys::finished_run_of(key).map(|finished| finished.run),
        Some(&keys::DUE) => keys::timer_of(key).map(|timer| timer.run),
        _ => return Ok(()),
    };
    let is_so = match run {
        None => false,
        Some(run) => match record(view, &run)? {
            Record::Missing => false,
            Record::Damaged => true,
            Record::Whole(record) => is_named(view, &run, &record, key),
        },
    };
    if is_so {
        return Ok(());
    }
    let problem = "its run says otherwise";
    Err(damaged(place_of(key), RecordError::Damaged { problem }))
}

/// Whether a run names an entry.
fn is_named(view: &View<'_>, run: &RunKey, record: &RunRecord, key: &[u8]) -> bool {
    match key.first() {
        Some(&keys::WORK) => record.work().is_some(),
        Some(&keys::FINISHED) => remains(&record.head)
            .is_some_and(|(remains, at)| keys::finished(remains, at, run) == key),
        _ => keys::timer_of(key).is_some_and(|timer| {
            deadline(view, run, record, timer.operation) == Some(timer.deadline)
        }),
    }
}

/// When a timer of a run fires.
fn deadline(
    view: &View<'_>,
    run: &RunKey,
    record: &RunRecord,
    operation: u64,
) -> Option<Timestamp> {
    let beside = &record.things(Kind::Timer).beside;
    let content = match beside.iter().find(|(number, _)| *number == operation) {
        Some((_, content)) => content.clone(),
        None => {
            let stored = view
                .get(&keys::numbered(keys::TIMER, run, operation))
                .ok()??;
            let version = Kind::Timer.version();
            value::read(view, &stored, version, String::new, |content| {
                Ok(content.to_vec())
            })
            .ok()?
        }
    };
    let millis = super::records::read_number(&content).ok()?;
    Some(Timestamp::from_millis(millis))
}
