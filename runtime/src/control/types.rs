//! Whether what comes as a text is what the program takes. From the program itself it is of the right type, or does not
//! compile; whoever types it can be mistaken.

use super::declared::may_be_read_otherwise;
use super::refused::Refused;
use super::request::Tell;
use crate::engine::Shared;
use crate::store::{KeyKind, Store, StoreError};

/// Refuses a message or signal that the run's workflow could not read, where all its waits can be seen: another one may be
/// of the same name and another type. What was taken under the same key before, by other code, is not refused again: it
/// has its receipt.
pub(super) fn check(shared: &Shared, tell: &Tell) -> Result<(), Refused> {
    let store = &*shared.store;
    // What is the matter with the run the store says when it gets it.
    let Some(head) = store.head(&tell.run)? else {
        return Ok(());
    };
    if may_be_read_otherwise(&head) {
        return Ok(());
    }
    let Some(workflow) = shared.registry.workflows.get(head.workflow.as_str()) else {
        return Ok(());
    };
    if workflow.graph.listens_for_others {
        return Ok(());
    }
    let Tell {
        channel,
        name,
        payload,
        ..
    } = tell;
    let mut wrong = None;
    for known in workflow.graph.receives() {
        if known.channel == *channel && known.name == name {
            match known.accepts(payload) {
                Ok(()) => return Ok(()),
                Err(error) => wrong = Some(error),
            }
        }
    }
    match wrong {
        Some(error) if !is_known(store, tell)? => {
            Err(Refused::wrong_type(name, &head.workflow, &error))
        }
        _ => Ok(()),
    }
}

fn is_known(store: &dyn Store, tell: &Tell) -> Result<bool, StoreError> {
    let known = |key: &String| store.key(&tell.run, KeyKind::Send, key);
    Ok(tell
        .key
        .as_ref()
        .map(known)
        .transpose()?
        .flatten()
        .is_some())
}
