//! Forking a run.

use std::sync::Arc;

use perennial::RunKey;
use serde::{Deserialize, Serialize};

use crate::engine::Shared;
use crate::error::Unavailable;
use crate::fork::{ForkError, Plan, Wish, look};

/// A run that was forked from another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forked {
    /// The new run.
    pub run: RunKey,
    /// The run from which it was forked.
    pub from: RunKey,
    /// The last event that both have: that of the unit which has the event that was asked for.
    pub last: u64,
}

pub(crate) async fn fork(shared: &Arc<Shared>, wish: Wish) -> Result<Forked, ForkError> {
    let Plan { create, last } = look(shared, wish.clone()).await?;
    let made = shared.make_fork(*create).await;
    match made.map_err(ForkError::Unavailable)? {
        Ok(()) => Ok(Forked {
            run: wish.new_run(),
            from: wish.run,
            last,
        }),
        // It was made since. What it is stands in its history.
        Err(head) => {
            let there = Arc::clone(shared);
            let looking = shared
                .tokio
                .spawn_blocking(move || wish.exists(&there, &head));
            let stopped = |_| ForkError::Unavailable(Unavailable::Stopped);
            Err(looking.await.unwrap_or_else(stopped))
        }
    }
}
