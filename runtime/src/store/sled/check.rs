//! Looking at what is stored without believing it, record by record: the newest ones at every opening,
//! everything when asked.

use perennial::history::decode_unit;
use perennial::wire::RecordError;

use super::apply::Applied;
use super::keys;
use super::overlay::View;
use super::problem::damaged;
use super::records::{
    ATTEMPT_VERSION, BLOCKED_VERSION, ITEM_VERSION, NUMBER_VERSION, OFFER_VERSION, PROGRAM_VERSION,
    RESTORING_VERSION, SEND_VERSION, UNIT_VALUE_VERSION, VIEW_VERSION, read_attempt, read_blocked,
    read_item, read_number, read_offer, read_program, read_restoring, read_send, read_send_order,
    read_view,
};
use super::run::{Kind, RUN_VERSION, RunRecord};
use super::{offers, read, sends, streams, value, views};
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
        keys::SEND => "idempotency keys",
        keys::SEND_ORDER => "index entries of idempotency keys",
        keys::ITEM => "index entries of items in streams",
        keys::VIEW => "views",
        keys::OFFER => "offers",
        keys::OPEN_OFFER => "index entries of open offers",
        keys::PROGRAM => "programs",
        keys::CHUNK => "chunks",
        _ => "other records",
    }
}

/// The words for a key.
pub(super) fn place_of(key: &[u8]) -> String {
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
        (Some(keys::FINISHED), _, _) => match keys::finished_run_of(key) {
            Some(finished) => format!(
                "the entry of run {} among those that have finished",
                finished.run
            ),
            None => format!("the record `{}`", key.escape_ascii()),
        },
        (Some(keys::DUE), _, _) => match keys::timer_of(key) {
            Some(timer) => format!(
                "the entry of timer {} of run {} in the order of deadlines",
                timer.operation, timer.run
            ),
            None => format!("the record `{}`", key.escape_ascii()),
        },
        (Some(keys::RESTORING), Some(run), _) => format!("the restore of run {run}"),
        (Some(keys::PROGRAM), _, _) => "the record of a program".into(),
        (Some(keys::SEND), _, Some((run, _))) => sends::place(&run)(),
        (Some(keys::SEND_ORDER), _, Some((run, arrival))) => sends::order_place(&run, arrival)(),
        (Some(keys::ITEM), _, _) => match keys::item_of(key) {
            Some((run, name, number)) => streams::place(&run, &name, number)(),
            None => format!("the record `{}`", key.escape_ascii()),
        },
        (Some(keys::VIEW), _, _) => match keys::view_of(key) {
            Some((run, name)) => views::place(&run, &name)(),
            None => format!("the record `{}`", key.escape_ascii()),
        },
        (Some(keys::OFFER), _, Some((run, operation))) => offers::place(&run, operation)(),
        (Some(keys::OPEN_OFFER), _, Some((run, operation))) => {
            offers::entry_place(&run, operation)()
        }
        (Some(keys::BLOCKED), _, Some((run, _))) => format!("a blocked record of run {run}"),
        _ => format!("the record `{}`", key.escape_ascii()),
    }
}

/// Reads one record and everything that belongs to it.
pub(super) fn record(view: &View<'_>, key: &[u8], stored: &[u8]) -> Result<(), StoreError> {
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
        Some(keys::SEND) => value::read(view, stored, SEND_VERSION, place, |content| {
            let send = read_send(content)?;
            let digest = keys::digest_of(send.kind(), &send.key);
            if key.ends_with(&digest) {
                Ok(())
            } else {
                Err(RecordError::Malformed { field: "key" })
            }
        }),
        Some(keys::SEND_ORDER) => value::read(view, stored, SEND_VERSION, place, |content| {
            read_send_order(content).map(drop)
        }),
        Some(keys::ITEM) => value::read(view, stored, ITEM_VERSION, place, |content| {
            read_item(content).map(drop)
        }),
        Some(keys::VIEW) => value::read(view, stored, VIEW_VERSION, place, |content| {
            let record = read_view(content)?;
            match keys::view_of(key) {
                Some((_, name)) if name == record.name => Ok(()),
                _ => Err(RecordError::Malformed { field: "name" }),
            }
        }),
        Some(keys::OFFER) => value::read(view, stored, OFFER_VERSION, place, |content| {
            fits(read_offer(content)?.operation)
        }),
        Some(keys::PROGRAM) => value::read(view, stored, PROGRAM_VERSION, place, |content| {
            if key == keys::program(&read_program(content)?.artifact) {
                Ok(())
            } else {
                Err(RecordError::Malformed { field: "artifact" })
            }
        }),
        Some(keys::WORK | keys::END) => {
            value::read(view, stored, NUMBER_VERSION, place, |content| {
                read_number(content).map(drop)
            })
        }
        Some(keys::RESTORING) => value::read(view, stored, RESTORING_VERSION, place, |content| {
            read_restoring(content).map(drop)
        }),
        Some(keys::DUE | keys::FINISHED | keys::OPEN_OFFER) => {
            value::opened(stored, NUMBER_VERSION)
                .map(drop)
                .map_err(|problem| damaged(place(), problem))
        }
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
