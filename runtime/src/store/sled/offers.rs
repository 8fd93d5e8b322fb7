//! The offers of runs: a record each, and an entry of those that are open, so that they are found among all that a
//! run ever made, and among all runs.

use std::ops::Bound;

use perennial::wire::RecordError;
use perennial::{Namespace, RunId, RunKey};

use super::effects::Effects;
use super::keys;
use super::overlay::View;
use super::problem::damaged;
use super::records::{NUMBER_VERSION, OFFER_VERSION, offer_content, read_offer};
use super::{read, value};
use crate::store::StoreError;
use crate::store::offers::{Look, Offer, Waiting};

pub(super) fn place(run: &RunKey, operation: u64) -> impl Fn() -> String {
    move || format!("the offer of operation {operation} of run {run}")
}

pub(super) fn entry_place(run: &RunKey, operation: u64) -> impl Fn() -> String {
    move || format!("the entry of operation {operation} of run {run} among the open offers")
}

/// Reads an offer, which must be the one that is looked for.
fn read_if(content: &[u8], operation: u64) -> Result<Offer, RecordError> {
    let offer = read_offer(content)?;
    if offer.operation == operation {
        Ok(offer)
    } else {
        Err(RecordError::Malformed { field: "operation" })
    }
}

/// What a run has of an operation, as the writes so far leave it.
pub(super) fn known(
    effects: &Effects<'_>,
    run: &RunKey,
    operation: u64,
) -> Result<Option<Offer>, StoreError> {
    let key = keys::numbered(keys::OFFER, run, operation);
    effects.read(&key, OFFER_VERSION, place(run, operation), |content| {
        read_if(content, operation)
    })
}

/// The offers of a run, as the writes so far leave them.
pub(super) struct Known<'a, 'b> {
    pub(super) effects: &'a Effects<'b>,
    pub(super) run: &'a RunKey,
}

impl Look for Known<'_, '_> {
    fn offer(&self, operation: u64) -> Result<Option<Offer>, StoreError> {
        known(self.effects, self.run, operation)
    }

    fn open(&self) -> Result<Vec<Offer>, StoreError> {
        let prefix = keys::all(keys::OPEN_OFFER, self.run);
        let mut found = Vec::new();
        for entry in self.effects.keys(&prefix, usize::MAX)? {
            let operation = keys::last_number(&entry).unwrap_or_default();
            let offer = known(self.effects, self.run, operation)?;
            found.push(offer.ok_or_else(|| alone(self.run, operation))?);
        }
        Ok(found)
    }
}

/// An entry of an open offer has no record.
fn alone(run: &RunKey, operation: u64) -> StoreError {
    let problem = "the record of the offer is missing";
    damaged(
        entry_place(run, operation)(),
        RecordError::Damaged { problem },
    )
}

/// Puts an offer in place of what there is of it.
pub(super) fn put(effects: &mut Effects<'_>, run: &RunKey, offer: &Offer) {
    let key = |kind| keys::numbered(kind, run, offer.operation);
    effects.put(key(keys::OFFER), OFFER_VERSION, &offer_content(offer));
    if offer.is_open() {
        effects.put(key(keys::OPEN_OFFER), NUMBER_VERSION, &[]);
    } else {
        effects.remove(key(keys::OPEN_OFFER));
    }
}

/// The offer of a record.
fn stored(
    view: &View<'_>,
    run: &RunKey,
    operation: u64,
    stored: &[u8],
) -> Result<Offer, StoreError> {
    let place = place(run, operation);
    value::read(view, stored, OFFER_VERSION, place, |content| {
        read_if(content, operation)
    })
}

/// The offer of an operation, if the run as it is now has it.
pub(super) fn one(
    view: &View<'_>,
    run: &RunKey,
    operation: u64,
) -> Result<Option<Offer>, StoreError> {
    let Some(found) = view.get(&keys::numbered(keys::OFFER, run, operation))? else {
        return Ok(None);
    };
    let Some(head) = read::head(view, run)? else {
        return Ok(None);
    };
    let offer = stored(view, run, operation, &found)?;
    Ok(Some(offer).filter(|offer| offer.is_kept(&head)))
}

/// A page of the offers that a run has, in the order of their operations.
pub(super) fn page(
    view: &View<'_>,
    run: &RunKey,
    after: u64,
    limit: usize,
) -> Result<Vec<Offer>, StoreError> {
    let Some(head) = read::head(view, run)?.filter(|head| head.purged.is_none()) else {
        return Ok(Vec::new());
    };
    let Some(first) = after.checked_add(1) else {
        return Ok(Vec::new());
    };
    let from = keys::numbered(keys::OFFER, run, first);
    let to = keys::numbered(keys::OFFER, run, u64::MAX);
    let mut found = Vec::new();
    for entry in view.range(Bound::Included(from), Bound::Included(to)) {
        if found.len() == limit {
            break;
        }
        let (key, value) = entry?;
        let operation = keys::last_number(&key).unwrap_or_default();
        let offer = stored(view, run, operation, &value)?;
        if offer.is_kept(&head) {
            found.push(offer);
        }
    }
    Ok(found)
}

/// Where a page of the open offers of a namespace begins.
pub(super) fn waiting_start(namespace: &Namespace, after: Option<(&RunId, u64)>) -> keys::Key {
    match after {
        Some((run, operation)) => {
            let run = RunKey::new(namespace.clone(), run.clone());
            keys::next(&keys::numbered(keys::OPEN_OFFER, &run, operation))
        }
        None => keys::of_namespace(keys::OPEN_OFFER, namespace),
    }
}

/// At most so many entries are looked at before others have their turn.
const SLICE: usize = 500;

/// Goes on with a page of open offers: `from` is where, and then where to go on next, `None` at the end.
pub(super) fn waiting(
    view: &View<'_>,
    namespace: &Namespace,
    limit: usize,
    from: &mut Option<keys::Key>,
    found: &mut Vec<Waiting>,
) -> Result<(), StoreError> {
    let prefix = keys::of_namespace(keys::OPEN_OFFER, namespace);
    let Some(start) = from.take() else {
        return Ok(());
    };
    for (seen, entry) in view
        .range(Bound::Included(start), Bound::Unbounded)
        .enumerate()
    {
        let (key, _) = entry?;
        if found.len() == limit || !key.starts_with(&prefix) {
            return Ok(());
        }
        if seen == SLICE {
            *from = Some(key.to_vec());
            return Ok(());
        }
        let named =
            keys::run_and_rest(&key).and_then(|(run, rest)| Some((run, keys::number(rest)?)));
        let Some((run, operation)) = named else {
            let place = format!("the entry `{}` of an open offer", key.escape_ascii());
            return Err(damaged(place, RecordError::Malformed { field: "key" }));
        };
        let offer = view.get(&keys::numbered(keys::OFFER, &run, operation))?;
        let offer = offer.ok_or_else(|| alone(&run, operation))?;
        let offer = stored(view, &run, operation, &offer)?;
        found.push(Waiting { run: run.id, offer });
    }
    Ok(())
}

/// Whether an open offer has its entry, and an entry its open offer; other keys have.
pub(super) fn belongs(view: &View<'_>, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    let Some((run, _)) = keys::run_and_rest(key) else {
        return Ok(());
    };
    let operation = keys::last_number(key).unwrap_or_default();
    let wrong = |place: String, problem| Err(damaged(place, RecordError::Damaged { problem }));
    match key.first() {
        Some(&keys::OFFER) => {
            let offer = stored(view, &run, operation, value)?;
            let entry = keys::numbered(keys::OPEN_OFFER, &run, operation);
            if offer.is_open() && view.get(&entry)?.is_none() {
                return wrong(
                    place(&run, operation)(),
                    "it is not among those that are open",
                );
            }
            Ok(())
        }
        Some(&keys::OPEN_OFFER) => {
            let offer = view.get(&keys::numbered(keys::OFFER, &run, operation))?;
            let offer = offer.ok_or_else(|| alone(&run, operation))?;
            if stored(view, &run, operation, &offer)?.is_open() {
                return Ok(());
            }
            wrong(
                entry_place(&run, operation)(),
                "the record of the offer says otherwise",
            )
        }
        _ => Ok(()),
    }
}
