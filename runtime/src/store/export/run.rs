//! Reading one run as it is at one moment, from a store that others may be writing to.
//!
//! All that is beside the history is read in one look. The history only grows, so what the head of that look
//! says of it can be read afterwards: up to the head's last event. Attempts stand beside the history and
//! only grow too; they are counted before and after the look, and looked at again where some came between.
//! Only a purge takes something away, and a head says so: then what was written is withdrawn, and the run is
//! read again as it is now. So it is where new sends have taken the places of keys that the head counts: those
//! go in the order in which they are read, so this mostly comes too late for that. Offers say themselves by which
//! event or arrival they came to their state, so those that have another one since are written as they were.

use std::io::Write;

use perennial::RunKey;
use perennial::wire::RecordError;

use super::error::ExportError;
use super::writer::Writer;
use crate::store::{AttemptRecord, Head, Loaded, Store, StoreError};

/// So many units are read at once.
const PAGE: usize = 500;
/// So often a run whose attempts come faster than they are read is looked at again. Then those that are known
/// are enough: nothing depends on them.
const ROUNDS: usize = 100;

/// Writes a run, if there still is one. `generation` is the last that is known of it.
pub(super) fn write<W: Write>(
    store: &dyn Store,
    run: &RunKey,
    generation: u64,
    out: &mut Writer<W>,
) -> Result<(), ExportError> {
    let mut generation = generation;
    while let Some((loaded, attempts)) = moment(store, run, generation)? {
        let head = &loaded.head;
        out.head(run, head)?;
        if keys(store, run, head, out)? && offers(store, run, head, out)? {
            out.beside(run, &loaded)?;
            if histories(store, run, head, &attempts, out)? {
                return Ok(());
            }
        }
        out.withdraw(run)?;
        generation = head.generation;
    }
    Ok(())
}

/// What is beside the histories, and the attempts of the last generation, at one moment.
fn moment(
    store: &dyn Store,
    run: &RunKey,
    mut generation: u64,
) -> Result<Option<(Loaded, Vec<AttemptRecord>)>, StoreError> {
    let mut before = store.attempts(run, generation)?;
    let mut round = 0;
    loop {
        let Some(loaded) = store.load(run)? else {
            return Ok(None);
        };
        let same = loaded.head.generation == generation;
        generation = loaded.head.generation;
        let after = store.attempts(run, generation)?;
        if !loaded.head.views.is_empty() {
            // One that cannot be read is an error here.
            store.views(run)?;
        }
        round += 1;
        if same && (before.len() == after.len() || round >= ROUNDS) {
            return Ok(Some((loaded, before)));
        }
        before = after;
    }
}

/// Writes the keys that a head counts. `false`: they are not all there any more.
fn keys<W: Write>(
    store: &dyn Store,
    run: &RunKey,
    head: &Head,
    out: &mut Writer<W>,
) -> Result<bool, ExportError> {
    let (mut left, mut after) = (head.inbox.keys, head.inbox.keys_after);
    while left > 0 {
        let mut page = store.keys(run, after, PAGE)?;
        // Those that came since belong to a later head.
        page.retain(|key| key.arrival <= head.arrivals);
        let Some(last) = page.last() else {
            if store.head(run)?.as_ref() == Some(head) {
                let (place, problem) = (
                    format!("the idempotency keys of run {run}"),
                    RecordError::Damaged {
                        problem: "they are not all there",
                    },
                );
                return Err(ExportError::Store(StoreError::Damaged { place, problem }));
            }
            return Ok(false);
        };
        after = last.arrival;
        out.keys(run, &page)?;
        left = left.saturating_sub(page.len() as u64);
    }
    Ok(true)
}

/// Writes the offers as they were when the head was read. `false`: they are not all there any more.
fn offers<W: Write>(
    store: &dyn Store,
    run: &RunKey,
    head: &Head,
    out: &mut Writer<W>,
) -> Result<bool, ExportError> {
    let (mut open, mut after) = (0, 0);
    loop {
        let page = store.offers(run, after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = last.operation;
        let then = page.into_iter().filter_map(|offer| offer.stood_at(head));
        let then: Vec<_> = then.collect();
        open += then.iter().filter(|offer| offer.is_open()).count() as u64;
        out.offers(run, &then)?;
    }
    if open == head.inbox.offers {
        return Ok(true);
    }
    if store.head(run)?.as_ref() == Some(head) {
        let (place, problem) = (
            format!("the offers of run {run}"),
            RecordError::Damaged {
                problem: "they are not all there",
            },
        );
        return Err(ExportError::Store(StoreError::Damaged { place, problem }));
    }
    Ok(false)
}

/// Writes the histories that a head speaks of. `false`: they are not there any more.
fn histories<W: Write>(
    store: &dyn Store,
    run: &RunKey,
    head: &Head,
    attempts: &[AttemptRecord],
    out: &mut Writer<W>,
) -> Result<bool, ExportError> {
    for generation in head.kept_from..=head.generation {
        let last = (generation == head.generation).then_some(head.sequence);
        if let Err(error) = history(store, run, generation, last, out) {
            return match error {
                ExportError::Store(_) if !is_kept(store, run, head)? => Ok(false),
                error => Err(error),
            };
        }
        if last.is_some() {
            for attempt in attempts {
                out.attempt(run, generation, attempt)?;
            }
        } else {
            for attempt in store.attempts(run, generation)? {
                out.attempt(run, generation, &attempt)?;
            }
        }
    }
    Ok(is_kept(store, run, head)?)
}

/// Whether the run that a head speaks of is still kept, and not another one of the same name.
fn is_kept(store: &dyn Store, run: &RunKey, head: &Head) -> Result<bool, StoreError> {
    let now = store.head(run)?;
    Ok(now.is_some_and(|now| {
        let counted_on = (now.generation, now.fence, now.arrivals, now.stamp)
            >= (head.generation, head.fence, head.arrivals, head.stamp);
        let same = now.generation > head.generation || now.created == head.created;
        now.kept_from <= head.kept_from && counted_on && same
    }))
}

/// Writes a history, up to the event `last` where one is given.
fn history<W: Write>(
    store: &dyn Store,
    run: &RunKey,
    generation: u64,
    last: Option<u64>,
    out: &mut Writer<W>,
) -> Result<(), ExportError> {
    let end = last.unwrap_or(u64::MAX);
    let mut next = 1;
    while next <= end {
        let page = store.history(run, generation, next, PAGE)?;
        let Some(latest) = page.last() else { break };
        let after = latest.last() + 1;
        for unit in page.iter().take_while(|unit| unit.number <= end) {
            out.unit(run, generation, unit)?;
        }
        next = after;
    }
    match last {
        // The unit that the head ends with ends there.
        Some(last) if next <= last => Err(ExportError::Store(StoreError::Gap {
            run: run.clone(),
            expected: next,
            found: None,
        })),
        _ => Ok(()),
    }
}
