//! What runs show of themselves: a record for each view (S28).

use perennial::RunKey;

use super::effects::Effects;
use super::keys;
use super::overlay::View;
use super::problem::damaged;
use super::read;
use super::records::{VIEW_VERSION, read_view, view_content};
use super::value;
use crate::store::StoreError;
use crate::store::contract::Head;
use crate::store::view::{ViewChange, ViewRecord};
use perennial::wire::RecordError;

pub(super) fn place(run: &RunKey, name: &str) -> impl Fn() -> String {
    move || format!("view \"{}\" of run {run}", name.escape_debug())
}

/// Changes the views of a run. `before`: the head as it was; a run that begins anew begins without.
pub(super) fn change(
    effects: &mut Effects<'_>,
    run: &RunKey,
    before: Option<&Head>,
    generation: u64,
    changes: &[ViewChange],
) -> Result<(), StoreError> {
    let mut shown: Vec<String> = before.map_or_else(Vec::new, |head| head.views.clone());
    if before.is_some_and(|head| head.generation != generation) {
        for name in shown.drain(..) {
            effects.remove_unread(keys::view(run, &name))?;
        }
    }
    for (at, change) in changes.iter().enumerate() {
        let mut later = changes[at + 1..].iter();
        if later.any(|later| later.name() == change.name()) {
            // A write puts a key once.
            continue;
        }
        let key = keys::view(run, change.name());
        if shown.iter().any(|name| name == change.name()) {
            // With its chunks.
            effects.remove_unread(key.clone())?;
        }
        if let ViewChange::Put(record) = change {
            effects.put(key, VIEW_VERSION, &view_content(record));
        }
    }
    Ok(())
}

/// Puts the views of a run that is restored.
pub(super) fn put(effects: &mut Effects<'_>, run: &RunKey, views: &[ViewRecord]) {
    for record in views {
        let key = keys::view(run, &record.name);
        effects.put(key, VIEW_VERSION, &view_content(record));
    }
}

/// The views that a head names, in its order.
pub(super) fn all(
    view: &View<'_>,
    run: &RunKey,
    head: &Head,
) -> Result<Vec<ViewRecord>, StoreError> {
    let names = head.views.iter();
    names.map(|name| record(view, run, name)).collect()
}

/// The same for whoever goes on with the run: one that cannot be read has another in its place that says so.
pub(super) fn readable(
    view: &View<'_>,
    run: &RunKey,
    head: &Head,
) -> Result<Vec<ViewRecord>, StoreError> {
    let names = head.views.iter();
    let records = names.map(|name| match record(view, run, name) {
        Err(StoreError::Damaged { problem, .. }) => Ok(ViewRecord::unreadable(name, problem)),
        read => read,
    });
    records.collect()
}

/// One view; `None` where the run does not have it.
pub(super) fn one(
    view: &View<'_>,
    run: &RunKey,
    name: &str,
) -> Result<Option<ViewRecord>, StoreError> {
    match read::head(view, run)? {
        Some(head) if head.views.iter().any(|view| view == name) => {
            record(view, run, name).map(Some)
        }
        _ => Ok(None),
    }
}

pub(super) fn record(view: &View<'_>, run: &RunKey, name: &str) -> Result<ViewRecord, StoreError> {
    let place = place(run, name);
    let Some(stored) = view.get(&keys::view(run, name))? else {
        let problem = "it is missing";
        return Err(damaged(place(), RecordError::Damaged { problem }));
    };
    value::read(view, &stored, VIEW_VERSION, place, |content| {
        let record = read_view(content)?;
        if record.name == name {
            Ok(record)
        } else {
            Err(RecordError::Malformed { field: "name" })
        }
    })
}

/// Whether the run of a record knows of it; other keys have no such record.
pub(super) fn belongs(view: &View<'_>, key: &[u8]) -> Result<(), StoreError> {
    let Some((run, name)) = keys::view_of(key) else {
        return Ok(());
    };
    let head = match read::head(view, &run) {
        Ok(head) => head,
        // That is told where it stands.
        Err(StoreError::Damaged { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let is_known = |head: &Head| head.purged.is_some() || head.views.contains(&name);
    if head.as_ref().is_none_or(is_known) {
        return Ok(());
    }
    let problem = "its run says otherwise";
    Err(damaged(
        place(&run, &name)(),
        RecordError::Damaged { problem },
    ))
}
