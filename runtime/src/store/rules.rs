//! What every store decides alike: which writes are refused, what they make of a head, and which units
//! belong on a page. Nothing here stores anything.

use std::collections::BTreeMap;

use perennial::history::{Channel, Decision, Observation, Unit, encode_unit};
use perennial::value::MAX_VALUE_BYTES;
use perennial::{RunId, RunKey};

use super::blocked::{BlockedChange, BlockedRecord};
use super::contract::{
    Changes, Commit, Create, Fence, Head, Loaded, Owner, PauseChange, Queued, Status,
};
use super::inbox::{self, Awaited, Inbox, KeyRecord, told};
use super::list::ListQuery;
use super::offers::Offer;
use super::purge::Purged;
use super::tasks::{AttemptOutcome, AttemptRecord, Task, TaskChange};
use super::view::ViewRecord;
use super::{Refusal, StoreError, fork, offers, stream, view};

/// The largest unit, and the largest row of a queue, in bytes of its record (S15).
pub const MAX_UNIT_BYTES: usize = 16 << 20;
/// The longest text of an error or of a blocked record, in bytes.
pub const MAX_TEXT_BYTES: usize = MAX_VALUE_BYTES;
/// The longest name of a workflow, an activity or an artifact, in bytes.
pub const MAX_NAME_BYTES: usize = 1_024;

/// A write that is allowed: what it makes of the head, and the rows that the run's queue gets.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) head: Head,
    pub(super) rows: Vec<Queued>,
    /// The sends that a run knows from its beginning.
    pub(super) keys: Vec<KeyRecord>,
    /// The offers that are new or have another state, by operation.
    pub(super) offers: BTreeMap<u64, Offer>,
}

impl Resolved {
    /// The run as it is.
    pub(super) fn of(head: Head) -> Self {
        Self {
            head,
            rows: Vec::new(),
            keys: Vec::new(),
            offers: BTreeMap::new(),
        }
    }
}

/// What becomes of a creation.
#[derive(Debug)]
pub(super) enum Creation {
    New(Resolved),
    /// There is such a run already, and this one is not to follow it.
    Exists(Head),
}

pub(super) fn create(existing: Option<&Head>, create: &Create) -> Result<Creation, StoreError> {
    check_name("the name of the workflow", &create.workflow)?;
    check_bounds(&create.changes)?;
    let follows = match (existing, create.after) {
        (None, None) => None,
        (Some(head), Some(after)) if head.generation == after && head.status.is_finished() => {
            Some(head)
        }
        (Some(head), _) => return Ok(Creation::Exists(head.clone())),
        (None, Some(_)) => {
            return Err(StoreError::Refused(Refusal::NoRun {
                run: create.run.clone(),
            }));
        }
    };
    let inherited = fork::inherited(&create.changes.units);
    let stamp = follows.map_or(create.changes.stamp, |head| {
        head.stamp.max(create.changes.stamp)
    });
    let head = Head {
        workflow: create.workflow.clone(),
        input: create.input,
        status: Status::Running,
        generation: follows.map_or(1, |head| head.generation + 1),
        sequence: 0,
        owner: create.owner,
        fence: Fence(follows.map_or(1, |head| head.fence.0 + 1)),
        // Arrivals and operations are counted on over the generations of a run.
        arrivals: follows.map_or(inherited.arrivals, |head| head.arrivals),
        stamp,
        next_operation: follows.map_or(1, |head| head.next_operation),
        // What an earlier generation has left unread is not this one's (M43), nor are the keys that it knew.
        inbox: follows.map_or_else(Inbox::default, |head| Inbox {
            keys_after: head.arrivals,
            ..Inbox::default()
        }),
        // Whoever has read some goes on with what is new.
        streams: follows.map_or(inherited.streams, |head| head.streams.clone()),
        // Nothing of how the generation before stood is true of this one.
        views: Vec::new(),
        created: stamp,
        finished: None,
        // Records of the generation before say nothing about the history that begins here.
        blocked: false,
        purged: None,
        kept_from: follows.map_or(1, |head| head.kept_from),
        migrated_to: None,
        paused: None,
    };
    let mut resolved = advance(&create.run, head, &create.changes)?;
    resolved.keys = inbox::keys_of(&create.keys, &resolved.rows)?;
    resolved.head.inbox.keys = resolved.keys.len() as u64;
    Ok(Creation::New(resolved))
}

pub(super) fn commit(head: Option<&Head>, commit: &Commit) -> Result<Resolved, StoreError> {
    check_bounds(&commit.changes)?;
    let run = || commit.run.clone();
    let head = head.ok_or_else(|| StoreError::Refused(Refusal::NoRun { run: run() }))?;
    if commit.fence != head.fence {
        let refusal = Refusal::Fenced {
            run: run(),
            given: commit.fence,
            current: head.fence,
        };
        return Err(StoreError::Refused(refusal));
    }
    if let Some(Purged { at, .. }) = head.purged {
        return Err(StoreError::Refused(Refusal::Purged { run: run(), at }));
    }
    if (commit.generation, commit.sequence) != (head.generation, head.sequence) {
        let given = (commit.generation, commit.sequence);
        let refusal = Refusal::Moved {
            run: run(),
            given,
            current: (head.generation, head.sequence),
        };
        return Err(StoreError::Refused(refusal));
    }
    let Changes {
        units,
        enqueue,
        slots,
        views,
        status,
        pause,
        ..
    } = &commit.changes;
    let says_nothing = units.is_empty()
        && enqueue.is_empty()
        && slots.is_empty()
        && views.is_empty()
        && status.is_none()
        && pause.is_none();
    if head.status.is_finished() && !says_nothing {
        return Err(StoreError::Refused(Refusal::Finished { run: run() }));
    }
    advance(&commit.run, head.clone(), &commit.changes)
}

pub(super) fn claim(run: &RunKey, head: Option<&Head>, owner: Owner) -> Result<Head, StoreError> {
    let mut head = head
        .ok_or_else(|| StoreError::Refused(Refusal::NoRun { run: run.clone() }))?
        .clone();
    head.owner = owner;
    head.fence = Fence(head.fence.0 + 1);
    Ok(head)
}

fn advance(run: &RunKey, mut head: Head, changes: &Changes) -> Result<Resolved, StoreError> {
    head.stamp = head.stamp.max(changes.stamp);
    for unit in &changes.units {
        if unit.number != head.sequence + 1 {
            let given = (head.generation, unit.number.saturating_sub(1));
            let current = (head.generation, head.sequence);
            return Err(StoreError::Refused(Refusal::Moved {
                run: run.clone(),
                given,
                current,
            }));
        }
        head.sequence = unit.last();
        head.stamp = head.stamp.max(unit.at);
        count(&mut head, unit);
        stream::count_on(run, &mut head.streams, unit)?;
    }
    view::change(&mut head.views, &changes.views)?;
    let rows = changes
        .enqueue
        .iter()
        .map(|observation| enqueue(&mut head, observation))
        .collect::<Vec<_>>();
    for row in &rows {
        match told(&row.observation) {
            Some((Channel::Message, _)) => head.inbox.messages += 1,
            Some((Channel::Signal, _)) => head.inbox.signals += 1,
            None => {}
        }
    }
    head.inbox.signals = head.inbox.signals.saturating_sub(changes.dropped_signals);
    if let Some(awaited) = &changes.awaited {
        head.inbox.awaited = awaited.clone();
    }
    if let Some(next) = changes.next_operation {
        head.next_operation = next;
    }
    if let Some(status) = changes.status {
        set_status(&mut head, status);
    }
    match &changes.blocked {
        Some(BlockedChange::Put(_) | BlockedChange::Replace(_)) => head.blocked = true,
        Some(BlockedChange::Clear) => head.blocked = false,
        None => {}
    }
    match changes.pause {
        _ if head.status.is_finished() => {}
        Some(PauseChange::Pause { at }) => head.paused = head.paused.or(Some(at)),
        Some(PauseChange::Resume) => head.paused = None,
        None => {}
    }
    Ok(Resolved {
        rows,
        ..Resolved::of(head)
    })
}

/// A run that has ended waits for nothing, and is not paused. Signals that it has not been told are for nobody, so that stores let their
/// rows go; messages are kept (M42).
pub(super) fn set_status(head: &mut Head, status: Status) {
    head.status = status;
    head.finished = status.is_finished().then_some(head.stamp);
    if status.is_finished() {
        head.inbox.awaited = Awaited::default();
        head.inbox.signals = 0;
        head.paused = None;
    }
}

/// Whether a write ends a run that has signals in its queue.
pub(super) fn drops_signals(before: &Head, after: &Head) -> bool {
    !before.status.is_finished() && after.status.is_finished() && before.inbox.signals > 0
}

pub(super) fn is_signal(row: &Queued) -> bool {
    matches!(row.observation, Observation::SignalArrived(_))
}

/// Messages that a unit has taken, and the signal that it has told the run.
fn count(head: &mut Head, unit: &Unit) {
    if let Observation::SignalArrived(_) = unit.observation {
        head.inbox.signals = head.inbox.signals.saturating_sub(1);
    }
    let taken = unit.decisions.iter().filter(|decision| {
        matches!(
            decision,
            Decision::Received {
                channel: Channel::Message,
                ..
            }
        )
    });
    head.inbox.messages = head.inbox.messages.saturating_sub(taken.count() as u64);
}

pub(super) fn enqueue(head: &mut Head, observation: &Observation) -> Queued {
    head.arrivals += 1;
    let mut observation = observation.clone();
    if let Observation::MessageArrived(told) | Observation::SignalArrived(told) = &mut observation {
        told.number = head.arrivals;
    }
    Queued {
        arrival: head.arrivals,
        at: head.stamp,
        observation,
    }
}

/// The unit's record, within its bound (S15).
pub(super) fn unit_record(unit: &Unit) -> Result<Vec<u8>, StoreError> {
    let record = encode_unit(unit);
    check("a unit", record.len(), MAX_UNIT_BYTES)?;
    Ok(record)
}

/// A row of a queue has the form of a unit without decisions, so that there is one way to write an
/// observation; its number is the arrival.
pub(super) fn row_record(row: &Queued) -> Result<Vec<u8>, StoreError> {
    let Queued {
        arrival,
        at,
        observation,
    } = row.clone();
    let record = encode_unit(&Unit {
        number: arrival,
        at,
        observation,
        decisions: Vec::new(),
    });
    check("a row of the queue", record.len(), MAX_UNIT_BYTES)?;
    Ok(record)
}

fn check_bounds(changes: &Changes) -> Result<(), StoreError> {
    check_tasks(&changes.tasks)?;
    check_attempts(&changes.attempts)?;
    offers::check(&changes.offers)?;
    if let Some(awaited) = &changes.awaited {
        awaited.check()?;
    }
    match &changes.blocked {
        Some(BlockedChange::Put(record) | BlockedChange::Replace(record)) => check_blocked(record),
        Some(BlockedChange::Clear) | None => Ok(()),
    }
}

pub(super) fn check_attempts(attempts: &[AttemptRecord]) -> Result<(), StoreError> {
    for record in attempts {
        match &record.outcome {
            AttemptOutcome::Failed { error: text } | AttemptOutcome::Panicked { message: text } => {
                check("the text of an attempt", text.len(), MAX_TEXT_BYTES)?;
            }
            AttemptOutcome::Late { result } => {
                check(
                    "the late result of an attempt",
                    result.as_json().len(),
                    MAX_TEXT_BYTES,
                )?;
            }
            AttemptOutcome::DeadlineExceeded | AttemptOutcome::Lost => {}
        }
    }
    Ok(())
}

fn check_blocked(record: &BlockedRecord) -> Result<(), StoreError> {
    check_name("the name of an artifact", &record.artifact)?;
    check_name("the code of an error", &record.code)?;
    check(
        "the text of a blocked record",
        record.text.len(),
        MAX_TEXT_BYTES,
    )?;
    check(
        "the details of a blocked record",
        record.details.as_json().len(),
        MAX_TEXT_BYTES,
    )
}

pub(super) fn check_tasks(tasks: &[TaskChange]) -> Result<(), StoreError> {
    for change in tasks {
        if let TaskChange::Put(task) = change {
            check_task(task)?;
        }
    }
    Ok(())
}

fn check_task(task: &Task) -> Result<(), StoreError> {
    check_name("the name of an activity", &task.name)?;
    check(
        "the text of a failure",
        task.last_failure.as_ref().map_or(0, String::len),
        MAX_TEXT_BYTES,
    )
}

/// The bounds of what is beside the histories of a run.
pub(super) fn check_loaded(loaded: &Loaded) -> Result<(), StoreError> {
    check_name("the name of the workflow", &loaded.head.workflow)?;
    loaded.tasks.iter().try_for_each(check_task)?;
    loaded.blocked.iter().try_for_each(check_blocked)?;
    loaded.views.iter().try_for_each(ViewRecord::check)?;
    loaded
        .queue
        .iter()
        .try_for_each(|row| row_record(row).map(drop))
}

pub(super) fn check_name(what: &'static str, name: &str) -> Result<(), StoreError> {
    check(what, name.len(), MAX_NAME_BYTES)
}

pub(super) fn check(what: &'static str, size: usize, limit: usize) -> Result<(), StoreError> {
    if size > limit {
        return Err(StoreError::TooLarge {
            what,
            size: size as u64,
            limit: limit as u64,
        });
    }
    Ok(())
}

/// Whether the run has something to do without waiting for a timer. A task outlives its run's end (S12);
/// rows that the end did not take wait for the next generation, if there ever is one. One that is paused is told and
/// tried nothing, and its tasks go on.
pub(super) fn has_work(head: &Head, tasks: bool, queue: bool) -> bool {
    let goes_on = !head.status.is_finished() && head.paused.is_none();
    tasks || (goes_on && (queue || head.blocked))
}

/// Whether a run waits for a program that can go on with it.
pub(super) fn is_blocked(head: &Head) -> bool {
    head.blocked && !head.status.is_finished()
}

/// Whether a run belongs to what is asked for, apart from its namespace and where the page begins.
pub(crate) fn is_listed(query: &ListQuery, id: &RunId, head: &Head) -> bool {
    id.as_str().starts_with(&query.prefix)
        && query
            .workflow
            .as_ref()
            .is_none_or(|workflow| *workflow == head.workflow)
        && query.status.is_none_or(|status| status == head.status)
        && query
            .blocked
            .is_none_or(|blocked| blocked == is_blocked(head))
        && query
            .paused
            .is_none_or(|paused| paused == head.paused.is_some())
}

/// A page of a history, from `units` as they are stored: the one with the greatest number that is at most
/// `from`, if there is one, and those after it. `end` is the last event that the generation must have.
pub(super) fn page(
    run: &RunKey,
    end: u64,
    from: u64,
    limit: usize,
    units: impl Iterator<Item = Result<Unit, StoreError>>,
) -> Result<Vec<Unit>, StoreError> {
    let from = from.max(1);
    let mut page = Vec::new();
    if from > end || limit == 0 {
        return Ok(page);
    }
    let mut expected = None;
    for unit in units {
        let unit = unit?;
        let missing = match expected {
            None if unit.number > from => Some(1),
            Some(expected) if unit.number != expected => Some(expected),
            _ => None,
        };
        if let Some(expected) = missing {
            return Err(StoreError::Gap {
                run: run.clone(),
                expected,
                found: Some(unit.number),
            });
        }
        expected = Some(unit.last() + 1);
        // One that ends before `from` is followed by a gap, which the next turn finds.
        if unit.last() >= from {
            page.push(unit);
        }
        if page.len() == limit {
            return Ok(page);
        }
    }
    let expected = expected.unwrap_or(1);
    if expected <= end {
        return Err(StoreError::Gap {
            run: run.clone(),
            expected,
            found: None,
        });
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perennial::{Namespace, Timestamp};

    fn unit(number: u64) -> Result<Unit, StoreError> {
        let observation = Observation::TimerFired { operation: number };
        Ok(Unit {
            number,
            at: Timestamp::default(),
            observation,
            decisions: Vec::new(),
        })
    }

    fn numbers(from: u64, limit: usize, stored: &[u64]) -> Result<Vec<u64>, (u64, Option<u64>)> {
        let run = RunKey::new(Namespace::default(), RunId::new("r").expect("a valid id"));
        let first = stored
            .iter()
            .rposition(|&number| number <= from.max(1))
            .unwrap_or(0);
        let units = stored[first..].iter().map(|&number| unit(number));
        match page(&run, 5, from, limit, units) {
            Ok(units) => Ok(units.iter().map(|unit| unit.number).collect()),
            Err(StoreError::Gap {
                expected, found, ..
            }) => Err((expected, found)),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_page_is_whole_or_an_error() {
        assert_eq!(numbers(0, 9, &[1, 2, 3, 4, 5]), Ok(vec![1, 2, 3, 4, 5]));
        assert_eq!(numbers(4, 9, &[1, 2, 3, 4, 5]), Ok(vec![4, 5]));
        assert_eq!(numbers(2, 2, &[1, 2, 3, 4, 5]), Ok(vec![2, 3]));
        assert_eq!(numbers(6, 9, &[1, 2, 3, 4, 5]), Ok(vec![]));
        assert_eq!(numbers(1, 9, &[2, 3, 4, 5]), Err((1, Some(2))));
        assert_eq!(numbers(1, 9, &[1, 2, 4, 5]), Err((3, Some(4))));
        assert_eq!(numbers(3, 9, &[1, 2, 4, 5]), Err((3, Some(4))));
        assert_eq!(numbers(1, 9, &[1, 2, 3]), Err((4, None)));
        assert_eq!(numbers(1, 9, &[]), Err((1, None)));
    }
}
