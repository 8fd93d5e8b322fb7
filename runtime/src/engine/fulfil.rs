//! Values for offers on their way to a run: they go to the store as messages do, and wake the run whatever else it waits
//! for (S11, S25).

use perennial::history::Observation;
use perennial::value::Value;
use perennial::{OperationId, RunKey};
use tokio::sync::oneshot;

use super::send::Failure;
use super::shard::Shard;
use crate::client::{Ended, FulfilError};
use crate::store::{Delivered, Refusal};

/// A client's wish to complete an operation.
#[derive(Debug)]
pub(crate) struct FulfilRequest {
    pub(crate) run: RunKey,
    pub(crate) operation: u64,
    /// The name of the stub that it is meant for.
    pub(crate) stub: String,
    pub(crate) value: Value,
    pub(crate) reply: oneshot::Sender<Result<Delivered, FulfilError>>,
}

impl FulfilRequest {
    pub(super) fn observation(&self) -> Observation {
        Observation::StubFulfilled {
            operation: self.operation,
            value: self.value.clone(),
            key: None,
        }
    }

    /// What a client calls the operation.
    fn reference(&self) -> OperationId {
        OperationId {
            run: self.run.id.clone(),
            number: self.operation,
        }
    }

    /// Says why nothing came of it.
    pub(super) fn fail(self, failure: Failure, ended: impl FnOnce() -> Option<Ended>) {
        let reference = self.reference();
        let error = match failure {
            Failure::Refused(Refusal::OfferClosed(closed)) => FulfilError::Closed {
                reference,
                stub: closed.name,
                at: closed.at,
                ended: ended(),
            },
            Failure::Refused(refusal) => FulfilError::of(reference, refusal),
            Failure::Unavailable(error) => FulfilError::Unavailable(error),
            Failure::Lost(error) => FulfilError::lost(reference, error),
        };
        let _ = self.reply.send(Err(error));
    }
}

impl Shard {
    /// How a run has ended, if it has.
    pub(super) fn ended(&self, run: &RunKey) -> Option<Ended> {
        let head = self.shared.store.head(run).ok()??;
        Some(Ended {
            status: head.status,
            at: head.finished?,
        })
    }
}
