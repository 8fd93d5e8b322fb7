//! Runs that are blocked. They stand in the index of runs with something to do, so that nobody has to look at
//! all heads for them.

use std::ops::Bound;

use perennial::RunKey;
use perennial::wire::RecordError;

use super::keys::{self, Key};
use super::overlay::View;
use super::problem::damaged;
use super::records::{NUMBER_VERSION, read_number};
use super::{read, value};
use crate::store::blocked::BlockedRecord;
use crate::store::list::{ListQuery, Page};
use crate::store::{StoreError, rules};

/// The records of a run, in the order of their artifacts.
pub(super) fn records(view: &View<'_>, run: &RunKey) -> Result<Vec<BlockedRecord>, StoreError> {
    match read::head(view, run)? {
        Some(head) if head.blocked && head.purged.is_none() => read::blocked(view, run),
        _ => Ok(Vec::new()),
    }
}

/// The place in the index of a place among the heads.
fn in_index(head: Key) -> Key {
    let mut key = head;
    if let Some(kind) = key.first_mut() {
        *kind = keys::WORK;
    }
    key
}

/// Where a page of blocked runs begins.
pub(super) fn start(query: &ListQuery) -> Key {
    in_index(read::list_start(query))
}

/// Goes on with a page of blocked runs: `from` is where, and then where to go on next, `None` at the end.
pub(super) fn list(
    view: &View<'_>,
    query: &ListQuery,
    from: &mut Option<Key>,
    page: &mut Page,
) -> Result<(), StoreError> {
    let prefix = in_index(keys::runs(&query.namespace, &query.prefix));
    let Some(start) = from.take() else {
        return Ok(());
    };
    let entries = view.range(Bound::Included(start), Bound::Unbounded);
    for (seen, entry) in entries.enumerate() {
        let (key, value) = entry?;
        if !key.starts_with(&prefix) {
            return Ok(());
        }
        if seen == read::LIST_SLICE {
            *from = Some(key.to_vec());
            return Ok(());
        }
        let place = || format!("the index entry `{}` of a run", key.escape_ascii());
        if value::read(view, &value, NUMBER_VERSION, place, read_number)? == 0 {
            continue;
        }
        let run = keys::run_of(&key)
            .ok_or_else(|| damaged(place(), RecordError::Malformed { field: "key" }))?;
        let Some(head) = read::head(view, &run)? else {
            continue;
        };
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
