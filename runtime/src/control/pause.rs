//! Pausing runs of a store that no program has open, and letting them go on.

use perennial::{RunKey, Timestamp};

use super::serve::wait;
use crate::client::PauseError;
use crate::engine::{PauseReply, PauseWish};
use crate::error::Unavailable;
use crate::store::{Changes, Commit, PauseChange, Store, StoreError};

/// The run gets an owner for the one write; the next program that is started has it from there.
pub(super) fn change(
    store: &dyn Store,
    run: &RunKey,
    wish: PauseWish,
    now: Timestamp,
) -> Result<PauseReply, PauseError> {
    let head = match store.head(run).map_err(unavailable)? {
        Some(head) if !head.status.is_finished() => head,
        head => return Err(PauseError::of_end(run, head.as_ref())),
    };
    let (change, since) = match (wish, head.paused) {
        (PauseWish::Pause, None) => (PauseChange::Pause { at: now }, Some(now)),
        (PauseWish::Resume, Some(since)) => (PauseChange::Resume, Some(since)),
        (PauseWish::Pause | PauseWish::Resume, since) => {
            let already = true;
            return Ok(PauseReply { since, already });
        }
    };
    let owner = store.enroll().map_err(unavailable)?;
    let head = wait(|ack| store.claim(run.clone(), owner, ack)).map_err(unavailable)?;
    let commit = Commit {
        run: run.clone(),
        fence: head.fence,
        generation: head.generation,
        sequence: head.sequence,
        changes: Changes {
            pause: Some(change),
            stamp: head.stamp,
            ..Changes::default()
        },
    };
    wait(|ack| store.commit(commit, ack)).map_err(unavailable)?;
    let already = false;
    Ok(PauseReply { since, already })
}

fn unavailable(error: StoreError) -> PauseError {
    PauseError::Unavailable(Unavailable::from(error))
}
