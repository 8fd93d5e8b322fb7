//! The sends and updates that runs know by their idempotency keys: a record each, and an entry in the order of arrival, so
//! that the oldest are found that give their places to others.

use std::ops::Bound;

use perennial::RunKey;
use perennial::wire::RecordError;

use super::effects::Effects;
use super::keys;
use super::overlay::View;
use super::problem::damaged;
use super::records::{SEND_VERSION, read_send, read_send_order, send_content, send_order_content};
use super::{read, value};
use crate::store::StoreError;
use crate::store::inbox::{Inbox, KeyKind, KeyRecord, is_known};

pub(super) fn place(run: &RunKey) -> impl Fn() -> String {
    move || format!("the record of an idempotency key of run {run}")
}

pub(super) fn order_place(run: &RunKey, arrival: u64) -> impl Fn() -> String {
    move || format!("the entry of the idempotency key of arrival {arrival} of run {run}")
}

/// What the run knows of a key, as the writes so far leave it.
pub(super) fn known(
    effects: &Effects<'_>,
    run: &RunKey,
    kind: KeyKind,
    key: &str,
) -> Result<Option<KeyRecord>, StoreError> {
    let stored = keys::send(run, &keys::digest_of(kind, key));
    effects.read(&stored, SEND_VERSION, place(run), |content| {
        read_if(content, |send| send.kind() == kind && send.key == key)
    })
}

/// What the run knows of a key.
pub(super) fn find(
    view: &View<'_>,
    run: &RunKey,
    kind: KeyKind,
    key: &str,
) -> Result<Option<KeyRecord>, StoreError> {
    let Some(head) = read::head(view, run)? else {
        return Ok(None);
    };
    let Some(stored) = view.get(&keys::send(run, &keys::digest_of(kind, key)))? else {
        return Ok(None);
    };
    let send = value::read(view, &stored, SEND_VERSION, place(run), |content| {
        read_if(content, |send| send.kind() == kind && send.key == key)
    })?;
    Ok(is_known(&head, &send).then_some(send))
}

/// Reads a send, which must be the one that is looked for.
fn read_if(
    content: &[u8],
    is_it: impl FnOnce(&KeyRecord) -> bool,
) -> Result<KeyRecord, RecordError> {
    let send = read_send(content)?;
    if is_it(&send) {
        Ok(send)
    } else {
        Err(RecordError::Malformed { field: "key" })
    }
}

/// The sends with the smallest arrival numbers, those among them that an earlier run of that id has left.
pub(super) fn oldest(
    effects: &Effects<'_>,
    run: &RunKey,
    limit: usize,
) -> Result<Vec<KeyRecord>, StoreError> {
    let entries = effects.keys(&keys::all(keys::SEND_ORDER, run), limit)?;
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        let arrival = keys::last_number(&entry).unwrap_or_default();
        let place_of_entry = order_place(run, arrival);
        let Some(digest) = effects.read(&entry, SEND_VERSION, place_of_entry, read_send_order)?
        else {
            continue;
        };
        let send = effects.read(
            &keys::send(run, &digest),
            SEND_VERSION,
            place(run),
            |content| read_if(content, |send| send.arrival == arrival),
        )?;
        found.push(send.ok_or_else(|| alone(run, arrival))?);
    }
    Ok(found)
}

/// An entry in the order of arrival has no record.
fn alone(run: &RunKey, arrival: u64) -> StoreError {
    let problem = "the record of the key is missing";
    damaged(
        order_place(run, arrival)(),
        RecordError::Damaged { problem },
    )
}

/// The send of an entry in the order of arrival.
fn in_order(
    view: &View<'_>,
    run: &RunKey,
    arrival: u64,
    entry: &[u8],
) -> Result<KeyRecord, StoreError> {
    let place_of_entry = order_place(run, arrival);
    let digest = value::read(view, entry, SEND_VERSION, place_of_entry, read_send_order)?;
    let stored = view.get(&keys::send(run, &digest))?;
    let stored = stored.ok_or_else(|| alone(run, arrival))?;
    value::read(view, &stored, SEND_VERSION, place(run), |content| {
        read_if(content, |send| send.arrival == arrival)
    })
}

/// Puts a send, in place of the one of its key, if an earlier run of that id has left one.
pub(super) fn put(
    effects: &mut Effects<'_>,
    run: &RunKey,
    send: &KeyRecord,
    before: Option<&KeyRecord>,
) {
    if let Some(before) = before {
        effects.remove(keys::numbered(keys::SEND_ORDER, run, before.arrival));
    }
    let digest = keys::digest_of(send.kind(), &send.key);
    effects.put(keys::send(run, &digest), SEND_VERSION, &send_content(send));
    effects.put(
        keys::numbered(keys::SEND_ORDER, run, send.arrival),
        SEND_VERSION,
        &send_order_content(&digest),
    );
}

pub(super) fn remove(effects: &mut Effects<'_>, run: &RunKey, send: &KeyRecord) {
    effects.remove(keys::send(run, &keys::digest_of(send.kind(), &send.key)));
    effects.remove(keys::numbered(keys::SEND_ORDER, run, send.arrival));
}

/// Removes the send of an entry in the order of arrival, and the entry.
pub(super) fn remove_entry(
    effects: &mut Effects<'_>,
    run: &RunKey,
    entry: &[u8],
) -> Result<(), StoreError> {
    let arrival = keys::last_number(entry).unwrap_or_default();
    let place = order_place(run, arrival);
    if let Some(digest) = effects.read(entry, SEND_VERSION, place, read_send_order)? {
        effects.remove(keys::send(run, &digest));
    }
    effects.remove(entry.to_vec());
    Ok(())
}

/// Whether a run can have any.
pub(super) fn may_have(inbox: &Inbox) -> bool {
    inbox.keys > 0 || inbox.keys_after > 0
}

/// A page of the sends that a run knows, in the order of their arrival.
pub(super) fn page(
    view: &View<'_>,
    run: &RunKey,
    after: u64,
    limit: usize,
) -> Result<Vec<KeyRecord>, StoreError> {
    match read::head(view, run)? {
        Some(head) if head.purged.is_none() => {
            let first = after.max(head.inbox.keys_after).saturating_add(1);
            let from = keys::numbered(keys::SEND_ORDER, run, first);
            let to = keys::numbered(keys::SEND_ORDER, run, u64::MAX);
            let entries = view.range(Bound::Included(from), Bound::Included(to));
            let sends = entries.take(limit).map(|entry| {
                let (key, stored) = entry?;
                let arrival = keys::last_number(&key).unwrap_or_default();
                in_order(view, run, arrival, &stored)
            });
            sends.collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// Whether the history has the event that an update's key names.
fn accepted(view: &View<'_>, run: &RunKey, send: &KeyRecord) -> Result<(), StoreError> {
    let Some(event) = send.event else {
        return Ok(());
    };
    // What a run is being restored from comes in any order.
    let Some(head) = read::head(view, run)?.filter(|head| is_known(head, send)) else {
        return Ok(());
    };
    let unit = keys::of_generation(keys::UNIT, run, head.generation, event);
    if view.get(&unit)?.is_some() {
        return Ok(());
    }
    let problem = "the event by which the update was accepted is missing";
    Err(damaged(place(run)(), RecordError::Damaged { problem }))
}

/// Whether a record or an entry in the order of arrival has the other one, and a run; other keys have.
pub(super) fn belongs(view: &View<'_>, key: &[u8], stored: &[u8]) -> Result<(), StoreError> {
    let Some((run, rest)) = keys::run_and_rest(key) else {
        return Ok(());
    };
    match key.first() {
        Some(&keys::SEND) => {
            let send = value::read(view, stored, SEND_VERSION, place(&run), read_send)?;
            accepted(view, &run, &send)?;
            let entry = keys::numbered(keys::SEND_ORDER, &run, send.arrival);
            let named = match view.get(&entry)? {
                None => false,
                Some(stored) => {
                    let place = order_place(&run, send.arrival);
                    let digest = value::read(view, &stored, SEND_VERSION, place, read_send_order)?;
                    digest[..] == *rest
                }
            };
            if named {
                return Ok(());
            }
            let problem = "it is not among those in the order of arrival";
            Err(damaged(place(&run)(), RecordError::Damaged { problem }))
        }
        Some(&keys::SEND_ORDER) => {
            let arrival = keys::last_number(key).unwrap_or_default();
            in_order(view, &run, arrival, stored).map(drop)
        }
        _ => Ok(()),
    }
}
