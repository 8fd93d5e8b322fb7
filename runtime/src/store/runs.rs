//! Going through all runs of a store, namespace by namespace, page by page.

use perennial::RunKey;

use super::StoreError;
use super::contract::{Head, Store};
use super::list::ListQuery;

const PAGE: usize = 1_000;

/// Visits each run once, in the order of namespaces and ids. Runs that come meanwhile may be among them.
pub(crate) fn each<E: From<StoreError>>(
    store: &dyn Store,
    visit: impl FnMut(RunKey, Head) -> Result<(), E>,
) -> Result<(), E> {
    each_of(store, None, visit)
}

/// The same of the runs that are blocked.
#[cfg(feature = "cli")]
pub(crate) fn each_blocked<E: From<StoreError>>(
    store: &dyn Store,
    visit: impl FnMut(RunKey, Head) -> Result<(), E>,
) -> Result<(), E> {
    each_of(store, Some(true), visit)
}

fn each_of<E: From<StoreError>>(
    store: &dyn Store,
    blocked: Option<bool>,
    mut visit: impl FnMut(RunKey, Head) -> Result<(), E>,
) -> Result<(), E> {
    let mut after = None;
    loop {
        let namespaces = store.namespaces(after.as_ref(), PAGE)?;
        let Some(last) = namespaces.last().cloned() else {
            return Ok(());
        };
        for namespace in namespaces {
            let mut query = ListQuery {
                namespace,
                blocked,
                limit: PAGE,
                ..ListQuery::default()
            };
            loop {
                let page = store.list(&query)?;
                query.after = page.runs.last().map(|(id, _)| id.clone());
                for (id, head) in page.runs {
                    visit(RunKey::new(query.namespace.clone(), id), head)?;
                }
                if !page.more {
                    break;
                }
            }
        }
        after = Some(last);
    }
}
