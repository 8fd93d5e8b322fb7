//! Completing operations of runs from outside.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use perennial::value::{EncodeError, Value};
use perennial::{InvalidId, Namespace, OperationId, Receipt, RunId, RunKey};
use tokio::sync::oneshot;

use super::fulfil_error::FulfilError;
use super::read;
use crate::engine::{FulfilRequest, Message, Shared};
use crate::error::Unavailable;
use crate::store::OfferState;

/// A value on its way to an operation of a run, to be awaited. See [`Client::fulfil`](super::Client::fulfil).
#[must_use = "an operation is completed only when this is awaited"]
pub struct Fulfil {
    shared: Arc<Shared>,
    namespace: Namespace,
    reference: Result<OperationId, InvalidId>,
    /// The one run that the reference may be of.
    only: Option<RunId>,
    stub: String,
    value: Result<Value, EncodeError>,
    /// Whether the value was made of one of the stub's type.
    typed: bool,
}

impl Fulfil {
    pub(super) fn typed(
        shared: Arc<Shared>,
        namespace: Namespace,
        reference: Result<OperationId, InvalidId>,
        stub: &str,
        value: Result<Value, EncodeError>,
    ) -> Self {
        Self {
            shared,
            namespace,
            reference,
            only: None,
            stub: stub.to_owned(),
            value,
            typed: true,
        }
    }

    pub(crate) fn json(
        shared: Arc<Shared>,
        namespace: Namespace,
        reference: Result<OperationId, InvalidId>,
        stub: &str,
        value: Value,
    ) -> Self {
        Self {
            typed: false,
            ..Self::typed(shared, namespace, reference, stub, Ok(value))
        }
    }

    /// The reference has to be one of that run (B13).
    pub(super) fn only(mut self, run: RunId) -> Self {
        self.only = Some(run);
        self
    }

    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// The run, and the operation of it.
    pub(super) fn target(&self) -> Result<(RunKey, OperationId), FulfilError> {
        let reference = self.reference.clone();
        let reference = reference.map_err(FulfilError::InvalidReference)?;
        let run = RunKey::new(self.namespace.clone(), reference.run.clone());
        Ok((run, reference))
    }

    /// What goes to the run, and what is wrong with it as far as this program knows.
    fn request(self) -> Result<(Request, Option<FulfilError>), FulfilError> {
        let Self {
            shared,
            namespace,
            reference,
            only,
            stub,
            value,
            typed,
        } = self;
        let reference = reference.map_err(FulfilError::InvalidReference)?;
        if let Some(run) = only.filter(|run| *run != reference.run) {
            return Err(FulfilError::OtherRun { reference, run });
        }
        let value = match value {
            Ok(value) => value,
            Err(error) => return Err(FulfilError::unstorable(reference, error)),
        };
        let refused = match typed {
            true => None,
            false => shared.registry.refuses(&stub, &value),
        };
        let refused = refused.map(|(expected, error)| FulfilError::WrongType {
            reference: reference.clone(),
            stub: stub.clone(),
            expected,
            error,
        });
        let request = Request {
            run: RunKey::new(namespace, reference.run.clone()),
            shared,
            reference,
            stub,
            value,
        };
        Ok((request, refused))
    }
}

/// What goes to a run.
struct Request {
    shared: Arc<Shared>,
    reference: OperationId,
    run: RunKey,
    stub: String,
    value: Value,
}

impl Request {
    /// Whether the operation has that value, which was of the type when it was given (B3, B7).
    async fn is_known(&self) -> bool {
        let (run, operation) = (self.run.clone(), self.reference.number);
        let offer = read(&self.shared, move |shared| {
            Ok(shared.store.offer(&run, operation)?)
        });
        let state = offer.await.ok().flatten().map(|offer| offer.state);
        matches!(state, Some(OfferState::Fulfilled { digest, .. }) if digest == self.value.digest())
    }
}

impl IntoFuture for Fulfil {
    type Output = Result<Receipt, FulfilError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (request, refused) = self.request()?;
            if let Some(error) = refused
                && !request.is_known().await
            {
                return Err(error);
            }
            let Request {
                shared,
                reference,
                run,
                stub,
                value,
            } = request;
            let (reply, answer) = oneshot::channel();
            let request = FulfilRequest {
                run: run.clone(),
                operation: reference.number,
                stub,
                value,
                reply,
            };
            shared.tell(&run, Message::Fulfil(request));
            let delivered = answer
                .await
                .unwrap_or_else(|_| Err(FulfilError::lost(reference, Unavailable::Stopped)))?;
            Ok(delivered.into())
        })
    }
}

impl fmt::Debug for Fulfil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fulfil")
            .field("reference", &self.reference)
            .field("stub", &self.stub)
            .finish_non_exhaustive()
    }
}
