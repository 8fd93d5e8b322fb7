//! Reading what is durable.

use std::ops::Bound;

use perennial::history::{Unit, decode_unit};
use perennial::wire::RecordError;
use perennial::{Namespace, RunKey, Timestamp};

use super::keys;
use super::overlay::View;
use super::problem::damaged;
use super::records::{
    ATTEMPT_VERSION, BLOCKED_VERSION, NUMBER_VERSION, UNIT_VALUE_VERSION, read_attempt,
    read_blocked, read_number, read_row, read_task,
};
use super::run::{Kind, RUN_VERSION, RunRecord, read_head};
use super::{value, views};
use crate::store::blocked::BlockedRecord;
use crate::store::contract::{Head, Loaded};
use crate::store::list::{ListQuery, Page};
use crate::store::purge::{FinishedRun, Remains};
use crate::store::tasks::{AttemptRecord, DueTimer};
use crate::store::{StoreError, rules};

fn missing(place: String) -> StoreError {
    damaged(
        place,
        RecordError::Damaged {
            problem: "it is missing",
        },
    )
}

pub(super) fn unit_place(run: &RunKey, generation: u64, number: u64) -> String {
    format!("event {number} of generation {generation} of run {run}")
}

/// Reads a thing; `fits` says whether its number is the right one.
pub(super) fn thing(
    kind: Kind,
    content: &[u8],
    fits: impl Fn(u64) -> bool,
) -> Result<(), RecordError> {
    let found = match kind {
        Kind::Task => read_task(content)?.operation,
        Kind::Row => read_row(content)?.arrival,
        Kind::Timer => return read_number(content).map(drop),
    };
    if fits(found) {
        Ok(())
    } else {
        Err(RecordError::Malformed { field: "number" })
    }
}

fn record(view: &View<'_>, run: &RunKey) -> Result<Option<RunRecord>, StoreError> {
    let Some(value) = view.get(&RunRecord::key(run))? else {
        return Ok(None);
    };
    value::read(
        view,
        &value,
        RUN_VERSION,
        || format!("the head of run {run}"),
        RunRecord::read,
    )
    .map(Some)
}

/// The things of a kind, those beside the head and those apart, by number.
fn things<T>(
    view: &View<'_>,
    run: &RunKey,
    record: &RunRecord,
    kind: Kind,
    decode: impl Fn(u64, &[u8]) -> Result<T, RecordError>,
) -> Result<Vec<T>, StoreError> {
    let place = |number: u64| format!("{} {number} of run {run}", kind.name());
    let things = record.things(kind);
    let mut found = Vec::with_capacity(things.beside.len());
    for (number, content) in &things.beside {
        found.push((
            *number,
            decode(*number, content).map_err(|problem| damaged(place(*number), problem))?,
        ));
    }
    if things.apart > 0 {
        let mut apart = 0;
        for entry in view.prefix(&keys::all(kind.key(), run)) {
            let (key, value) = entry?;
            let number = keys::last_number(&key).unwrap_or_default();
            let content = value::read(
                view,
                &value,
                kind.version(),
                || place(number),
                |content| decode(number, content),
            )?;
            found.push((number, content));
            apart += 1;
        }
        if apart != things.apart {
            return Err(missing(format!(
                "{} of the {}s of run {run}",
                things.apart.abs_diff(apart),
                kind.name()
            )));
        }
        found.sort_by_key(|(number, _)| *number);
    }
    Ok(found.into_iter().map(|(_, thing)| thing).collect())
}

pub(super) fn head(view: &View<'_>, run: &RunKey) -> Result<Option<Head>, StoreError> {
    let place = || format!("the head of run {run}");
    let value = view.get(&RunRecord::key(run))?;
    value
        .map(|value| value::read(view, &value, RUN_VERSION, place, read_head))
        .transpose()
}

/// The timers of a run: operation and deadline.
pub(super) fn timers(
    view: &View<'_>,
    run: &RunKey,
    record: &RunRecord,
) -> Result<Vec<(u64, Timestamp)>, StoreError> {
    things(view, run, record, Kind::Timer, |number, content| {
        Ok((number, Timestamp::from_millis(read_number(content)?)))
    })
}

pub(super) fn load(view: &View<'_>, run: &RunKey) -> Result<Option<Loaded>, StoreError> {
    let Some(record) = record(view, run)? else {
        return Ok(None);
    };
    if record.head.purged.is_some() {
        return Ok(Some(Loaded::alone(record.head)));
    }
    Ok(Some(Loaded {
        tasks: things(view, run, &record, Kind::Task, |_, content| {
            read_task(content)
        })?,
        timers: timers(view, run, &record)?,
        queue: things(view, run, &record, Kind::Row, |_, content| {
            read_row(content)
        })?,
        blocked: if record.head.blocked {
            blocked(view, run)?
        } else {
            Vec::new()
        },
        views: views::readable(view, run, &record.head)?,
        head: record.head,
    }))
}

pub(super) fn blocked(view: &View<'_>, run: &RunKey) -> Result<Vec<BlockedRecord>, StoreError> {
    let mut found = Vec::new();
    for entry in view.prefix(&keys::all(keys::BLOCKED, run)) {
        let record = blocked_record(view, run, &entry?.1);
        found.push(record.or_else(|error| match error {
            StoreError::Damaged { problem, .. } => Ok(BlockedRecord::unreadable(run, problem)),
            error => Err(error),
        })?);
    }
    // The keys are digests.
    found.sort_by(|one, other| one.artifact.cmp(&other.artifact));
    Ok(found)
}

fn blocked_record(
    view: &View<'_>,
    run: &RunKey,
    stored: &[u8],
) -> Result<BlockedRecord, StoreError> {
    let place = || format!("a blocked record of run {run}");
    value::read(view, stored, BLOCKED_VERSION, place, read_blocked)
}

/// A page, and the number of the generation's last event.
pub(super) fn history(
    view: &View<'_>,
    run: &RunKey,
    generation: u64,
    from: u64,
    limit: usize,
) -> Result<(Vec<Unit>, u64), StoreError> {
    let Some(head) = head(view, run)? else {
        return Ok((Vec::new(), 0));
    };
    let end = match generation {
        _ if !(head.kept_from..=head.generation).contains(&generation) => {
            return Ok((Vec::new(), 0));
        }
        _ if generation == head.generation => head.sequence,
        _ => generation_end(view, run, generation)?,
    };
    let prefix = keys::numbered(keys::UNIT, run, generation);
    let key = |number| keys::of_generation(keys::UNIT, run, generation, number);
    // The unit that holds `from` may begin before it.
    let before = view.last(
        Bound::Included(prefix.clone()),
        Bound::Included(key(from.max(1))),
    );
    let before = before.transpose()?;
    let start = before.map_or_else(|| key(1), |(key, _)| key.to_vec());
    let units = view
        .range(Bound::Included(start), Bound::Unbounded)
        .map_while(|entry| match entry {
            Ok((key, value)) if key.starts_with(&prefix) => {
                let number = keys::last_number(&key).unwrap_or_default();
                Some(read_unit(view, run, generation, number, &value))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        });
    Ok((rules::page(run, end, from, limit, units)?, end))
}

/// One unit by the number of its observation, if it is there.
pub(super) fn unit(
    view: &View<'_>,
    run: &RunKey,
    generation: u64,
    number: u64,
) -> Result<Option<Unit>, StoreError> {
    let Some(stored) = view.get(&keys::of_generation(keys::UNIT, run, generation, number))? else {
        return Ok(None);
    };
    read_unit(view, run, generation, number, &stored).map(Some)
}

fn read_unit(
    view: &View<'_>,
    run: &RunKey,
    generation: u64,
    number: u64,
    stored: &[u8],
) -> Result<Unit, StoreError> {
    let place = || unit_place(run, generation, number);
    value::read(view, stored, UNIT_VALUE_VERSION, place, |record| {
        let unit = decode_unit(record)?;
        if unit.number == number {
            Ok(unit)
        } else {
            Err(RecordError::Malformed { field: "number" })
        }
    })
}

fn generation_end(view: &View<'_>, run: &RunKey, generation: u64) -> Result<u64, StoreError> {
    let place = || format!("the end of generation {generation} of run {run}");
    let value = view.get(&keys::numbered(keys::END, run, generation))?;
    value::read(
        view,
        &value.ok_or_else(|| missing(place()))?,
        NUMBER_VERSION,
        place,
        read_number,
    )
}

pub(super) fn attempts(
    view: &View<'_>,
    run: &RunKey,
    generation: u64,
) -> Result<Vec<AttemptRecord>, StoreError> {
    if head(view, run)?.is_none_or(|head| generation < head.kept_from) {
        return Ok(Vec::new());
    }
    let place = || format!("an attempt of generation {generation} of run {run}");
    view.prefix(&keys::numbered(keys::ATTEMPT, run, generation))
        .map(|entry| value::read(view, &entry?.1, ATTEMPT_VERSION, place, read_attempt))
        .collect()
}

pub(super) fn due(
    view: &View<'_>,
    after: Option<&DueTimer>,
    limit: usize,
) -> Result<Vec<DueTimer>, StoreError> {
    let from = after.map_or_else(
        || vec![keys::DUE],
        |timer| keys::next(&keys::due(&timer.run, timer.operation, timer.deadline)),
    );
    let timers = view
        .range(Bound::Included(from), Bound::Excluded(vec![keys::DUE + 1]))
        .take(limit)
        .map(|entry| {
            let (key, value) = entry?;
            let place = || format!("the index entry `{}` of a timer", key.escape_ascii());
            value::opened(&value, NUMBER_VERSION).map_err(|problem| damaged(place(), problem))?;
            keys::timer_of(&key)
                .ok_or_else(|| damaged(place(), RecordError::Malformed { field: "key" }))
        });
    timers.collect()
}

pub(super) fn finished(
    view: &View<'_>,
    remains: Remains,
    before: Timestamp,
    after: Option<&FinishedRun>,
    limit: usize,
) -> Result<Vec<FinishedRun>, StoreError> {
    let from = after.map_or_else(
        || keys::finished_from(remains, Timestamp::default()),
        |after| keys::next(&keys::finished(remains, after.at, &after.run)),
    );
    let to = keys::finished_from(remains, before);
    let runs = view
        .range(Bound::Included(from), Bound::Excluded(to))
        .take(limit)
        .map(|entry| {
            let (key, value) = entry?;
            let place = || format!("the index entry `{}` of a finished run", key.escape_ascii());
            value::opened(&value, NUMBER_VERSION).map_err(|problem| damaged(place(), problem))?;
            keys::finished_run_of(&key)
                .ok_or_else(|| damaged(place(), RecordError::Malformed { field: "key" }))
        });
    runs.collect()
}

/// Goes on with a page of runs that have something to do: `from` is where, and then where to go on next, `None`
/// at the end.
pub(super) fn claimable(
    view: &View<'_>,
    artifact: &str,
    limit: usize,
    from: &mut Option<keys::Key>,
    found: &mut Vec<RunKey>,
) -> Result<(), StoreError> {
    let Some(start) = from.take() else {
        return Ok(());
    };
    let entries = view.range(
        Bound::Included(start),
        Bound::Excluded(vec![keys::WORK + 1]),
    );
    for (seen, entry) in entries.enumerate() {
        if found.len() == limit {
            return Ok(());
        }
        let (key, value) = entry?;
        if seen == LIST_SLICE {
            *from = Some(key.to_vec());
            return Ok(());
        }
        let place = || format!("the index entry `{}` of a run", key.escape_ascii());
        let run = keys::run_of(&key)
            .ok_or_else(|| damaged(place(), RecordError::Malformed { field: "key" }))?;
        let blocked = value::read(view, &value, NUMBER_VERSION, place, read_number)? != 0;
        if !(blocked && is_unfit(view, &run, artifact)?) {
            found.push(run);
        }
    }
    Ok(())
}

/// Where a page of runs that have something to do begins.
pub(super) fn claimable_start(after: Option<&RunKey>) -> keys::Key {
    after.map_or_else(
        || vec![keys::WORK],
        |run| keys::next(&keys::one(keys::WORK, run)),
    )
}

fn is_unfit(view: &View<'_>, run: &RunKey, artifact: &str) -> Result<bool, StoreError> {
    let value = view.get(&keys::blocked(run, artifact))?;
    let Some(value) = value else { return Ok(false) };
    match blocked_record(view, run, &value) {
        Ok(record) => Ok(record.unfit),
        Err(StoreError::Damaged { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// At most so many heads are read for a list before others have their turn.
pub(super) const LIST_SLICE: usize = 1_000;

/// Goes on with a page: `from` is where, and then where to go on next, `None` at the end.
pub(super) fn list(
    view: &View<'_>,
    query: &ListQuery,
    from: &mut Option<keys::Key>,
    page: &mut Page,
) -> Result<(), StoreError> {
    let prefix = keys::runs(&query.namespace, &query.prefix);
    let Some(start) = from.take() else {
        return Ok(());
    };
    for (seen, entry) in view
        .range(Bound::Included(start), Bound::Unbounded)
        .enumerate()
    {
        let (key, value) = entry?;
        if !key.starts_with(&prefix) {
            return Ok(());
        }
        if seen == LIST_SLICE {
            *from = Some(key.to_vec());
            return Ok(());
        }
        let place = || format!("the head of the run `{}`", key.escape_ascii());
        let run = keys::run_of(&key)
            .ok_or_else(|| damaged(place(), RecordError::Malformed { field: "key" }))?;
        let head: Head = value::read(view, &value, RUN_VERSION, place, read_head)?;
        if rules::is_listed(query, &run.id, &head) {
            if page.runs.len() == query.limit {
                page.more = true;
                return Ok(());
            }
            page.runs.push((run.id, head));
        }
    }
    Ok(())
}

pub(super) fn namespaces(
    view: &View<'_>,
    after: Option<&Namespace>,
    limit: usize,
) -> Result<Vec<Namespace>, StoreError> {
    let mut from = after.map_or_else(|| vec![keys::RUN], keys::after_namespace);
    let mut found = Vec::new();
    // One look for each, however many runs it has.
    while found.len() < limit {
        let end = Bound::Excluded(vec![keys::RUN + 1]);
        let Some(entry) = view.range(Bound::Included(from), end).next() else {
            break;
        };
        let (key, _) = entry?;
        let place = || format!("the head of the run `{}`", key.escape_ascii());
        let run = keys::run_of(&key)
            .ok_or_else(|| damaged(place(), RecordError::Malformed { field: "key" }))?;
        from = keys::after_namespace(&run.namespace);
        found.push(run.namespace);
    }
    Ok(found)
}

/// Where a page begins.
pub(super) fn list_start(query: &ListQuery) -> keys::Key {
    let prefix = keys::runs(&query.namespace, &query.prefix);
    let after = query
        .after
        .as_ref()
        .map(|after| keys::next(&keys::runs(&query.namespace, after.as_str())));
    after.map_or(prefix.clone(), |after| after.max(prefix))
}
