//! Trying a blocked run again.

use std::sync::Arc;

use perennial::RunKey;
use serde::Serialize;
use tokio::sync::oneshot;

use crate::engine::{Message, Shared};
use crate::error::{Unavailable, UnblockError};
use crate::store::BlockedRecord;

/// A run that was blocked and goes on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Unblocked {
    /// The run.
    pub run: RunKey,
    /// What had blocked it, by program. These records are gone.
    pub errors: Vec<BlockedRecord>,
}

pub(super) async fn unblock(shared: &Arc<Shared>, run: RunKey) -> Result<Unblocked, UnblockError> {
    let (reply, answer) = oneshot::channel();
    let message = Message::Unblock {
        run: run.clone(),
        reply,
    };
    shared.tell(&run, message);
    let stopped = |_| Err(UnblockError::Unavailable(Unavailable::Stopped));
    let errors = answer.await.unwrap_or_else(stopped)?;
    Ok(Unblocked { run, errors })
}
