//! The index of the items in streams: for each unit and each stream in which it has some, which unit that is, by the
//! number of the first (S28).

use std::ops::Bound;

use perennial::RunKey;
use perennial::history::Unit;
use perennial::wire::RecordError;

use super::effects::Effects;
use super::keys;
use super::overlay::View;
use super::problem::damaged;
use super::read;
use super::records::{ITEM_VERSION, item_content, read_item};
use super::value;
use crate::store::StoreError;
use crate::store::contract::Head;
use crate::store::stream::{self, StreamItem};

pub(super) fn place(run: &RunKey, name: &str, number: u64) -> impl Fn() -> String {
    move || format!("the index entry of {}", stream::place(run, name, number))
}

/// Puts what the index has of a unit.
pub(super) fn put(effects: &mut Effects<'_>, run: &RunKey, generation: u64, unit: &Unit) {
    for (name, first) in stream::entries(unit) {
        let key = keys::item(run, name, first);
        effects.put(key, ITEM_VERSION, &item_content(generation, unit.number));
    }
}

/// A page of a stream. Of one that was purged there is nothing.
pub(super) fn page(
    view: &View<'_>,
    run: &RunKey,
    name: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<StreamItem>, StoreError> {
    let head = read::head(view, run)?;
    let streams = head.iter().flat_map(|head| &head.streams);
    let Some(found) = streams.into_iter().find(|stream| stream.name == name) else {
        return Ok(Vec::new());
    };
    let Some(from) = stream::start(found, after, limit) else {
        return Ok(Vec::new());
    };
    let first = keys::item(run, name, found.first);
    let last = keys::item(run, name, found.last);
    // The unit that has the item may begin before it.
    let before = view.last(
        Bound::Included(first),
        Bound::Included(keys::item(run, name, from)),
    );
    let Some((start, _)) = before.transpose()? else {
        return Err(stream::missing(run, name, from));
    };
    let units = view
        .range(Bound::Included(start.to_vec()), Bound::Included(last))
        .map(|entry| {
            let (key, stored) = entry?;
            let number = keys::last_number(&key).unwrap_or_default();
            unit(view, run, name, number, &stored)
        });
    stream::page(run, found, from, limit, units)
}

/// The unit of an entry, with its generation.
fn unit(
    view: &View<'_>,
    run: &RunKey,
    name: &str,
    number: u64,
    stored: &[u8],
) -> Result<(u64, Unit), StoreError> {
    let of_entry = place(run, name, number);
    let (generation, event) = value::read(view, stored, ITEM_VERSION, of_entry, read_item)?;
    match read::unit(view, run, generation, event)? {
        Some(unit) => Ok((generation, unit)),
        None => Err(stream::missing(run, name, number)),
    }
}

/// Whether an entry is there for a reason; other keys are.
pub(super) fn belongs(view: &View<'_>, key: &[u8], stored: &[u8]) -> Result<(), StoreError> {
    let Some((run, name, number)) = keys::item_of(key) else {
        return Ok(());
    };
    let is_kept = |head: &Head| {
        let mut streams = head.streams.iter();
        streams.any(|stream| stream.name == name && stream.first <= number)
    };
    // A purge, or a new beginning after one, may have left some behind; of a restore there is no head yet, and of
    // one that is damaged that is told.
    let head = match read::head(view, &run) {
        Ok(head) => head,
        Err(StoreError::Damaged { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    if head.as_ref().is_some_and(|head| !is_kept(head)) {
        return Ok(());
    }
    let (_, unit) = unit(view, &run, &name, number, stored)?;
    if stream::entries(&unit).contains(&(name.as_str(), number)) {
        return Ok(());
    }
    let problem = "the history says otherwise";
    Err(damaged(
        place(&run, &name, number)(),
        RecordError::Damaged { problem },
    ))
}
