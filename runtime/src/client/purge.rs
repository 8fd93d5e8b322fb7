//! Purging a run by hand.

use std::sync::Arc;

use perennial::RunKey;
use tokio::sync::oneshot;

use super::read;
use crate::engine::{SLICE, Shared};
use crate::error::{PurgeError, ReadError, Unavailable};
use crate::store::{Keep, Progress, Purge, Refusal, StoreError};

pub(super) async fn purge(shared: &Arc<Shared>, run: RunKey) -> Result<(), PurgeError> {
    let at = shared.clock.now();
    loop {
        let looked_at = run.clone();
        let head = read(shared, move |shared| Ok(shared.store.head(&looked_at)?)).await;
        let head = head.map_err(|error| match error {
            ReadError::Unavailable(error) => PurgeError::Unavailable(error),
            _ => PurgeError::NotFound { run: run.clone() },
        })?;
        let Some(head) = head else {
            return Err(PurgeError::NotFound { run });
        };
        if !head.status.is_finished() {
            return Err(PurgeError::Unfinished { run });
        }
        let slice = Purge {
            run: run.clone(),
            generation: head.generation,
            sequence: head.sequence,
            keep: Keep::Head,
            at,
            limit: SLICE,
        };
        // Where it has begun anew meanwhile, the next look says so.
        if slices(shared, slice).await? {
            shared.head_is_left(at);
            return Ok(());
        }
    }
}

/// One slice after another. `false`: the run stands elsewhere now.
async fn slices(shared: &Arc<Shared>, slice: Purge) -> Result<bool, PurgeError> {
    loop {
        let (answer, answered) = oneshot::channel();
        let ack = Box::new(move |result| drop(answer.send(result)));
        shared.store.purge(slice.clone(), ack);
        let result = answered
            .await
            .map_err(|_| PurgeError::Unavailable(Unavailable::Stopped))?;
        match result {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => return Ok(true),
            Err(StoreError::Refused(Refusal::Moved { .. })) => return Ok(false),
            Err(StoreError::Refused(Refusal::NoRun { run })) => {
                return Err(PurgeError::NotFound { run });
            }
            Err(StoreError::Refused(Refusal::Unfinished { run })) => {
                return Err(PurgeError::Unfinished { run });
            }
            Err(StoreError::Refused(Refusal::OpenTasks { run, tasks: count })) => {
                return Err(PurgeError::OpenActivities { run, count });
            }
            Err(error) => return Err(PurgeError::Unavailable(error.into())),
        }
    }
}
