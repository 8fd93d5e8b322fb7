//! One run, seen from outside.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use perennial::{
    Data, InvalidId, Message, OperationId, RunId, RunKey, Signal, Stream, Stub, StubFn, View,
    Workflow, WorkflowResult,
};
use tokio::sync::oneshot;

use super::fork;
use super::pause::{self, PauseError, Paused, Resumed};
use super::unblock::unblock;
use super::{
    Fulfil, Items, ListMessages, ListOffers, RunHistory, RunInfo, SendError, SendMessage,
    Unblocked, UpdateRun, ViewError, Viewed, Watch, history, send, status, view,
};
use crate::engine::{self, Shared, WaitError};
use crate::error::{ReadError, RunError, Unavailable, UnblockError};
use crate::fork::{ForkError, Wish};
use crate::store::Status;

/// A run of the workflow `W`.
pub struct RunHandle<W> {
    shared: Arc<Shared>,
    run: RunKey,
    workflow: PhantomData<fn() -> W>,
}

type Value<W> = <<W as Workflow>::Output as WorkflowResult>::Value;
type Error<W> = <<W as Workflow>::Output as WorkflowResult>::Error;

impl<W: Workflow> RunHandle<W> {
    pub(crate) fn new(shared: Arc<Shared>, run: RunKey) -> Self {
        Self {
            shared,
            run,
            workflow: PhantomData,
        }
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.run.id
    }

    /// Waits for the run's end and gives what it returned. May be called as often as one likes, also after
    /// the end.
    ///
    /// # Errors
    ///
    /// [`RunError::Failed`] with the workflow's own error; [`RunError::Blocked`] as soon as this program
    /// cannot go on with the run; [`RunError::Migrated`] where it was moved to a new run; [`RunError::Purged`] where its result is not kept any more;
    /// [`RunError::NotFound`], [`RunError::Undecodable`], [`RunError::Unavailable`].
    pub async fn result(&self) -> Result<Value<W>, RunError<Error<W>>> {
        let (reply, answer) = oneshot::channel();
        self.shared.tell(
            &self.run,
            engine::Message::Await {
                run: self.run.clone(),
                reply,
            },
        );
        let run = || self.run.clone();
        let stopped = |_| RunError::Unavailable(Unavailable::Stopped);
        let ended = answer
            .await
            .map_err(stopped)?
            .map_err(|error| match error {
                WaitError::NotFound => RunError::NotFound { run: run() },
                WaitError::Purged {
                    status,
                    finished,
                    at,
                } => RunError::Purged {
                    run: run(),
                    status,
                    finished,
                    at,
                },
                WaitError::Migrated { to } => RunError::Migrated {
                    run: run(),
                    to: RunKey::new(run().namespace, to),
                },
                WaitError::Blocked { code, text } => RunError::Blocked {
                    run: run(),
                    code,
                    text,
                },
                WaitError::Unavailable(error) => RunError::Unavailable(error),
            })?;
        let undecodable = |error| RunError::Undecodable { run: run(), error };
        match ended.status {
            Status::Completed => perennial::Data::from_value(&ended.value).map_err(undecodable),
            _ => Err(perennial::Data::from_value(&ended.value)
                .map_or_else(undecodable, RunError::Failed)),
        }
    }

    /// Tries it again, now and in this process, where it is blocked: see
    /// [`Client::unblock`](super::Client::unblock). Who waits for its [`result`](Self::result) is answered when a
    /// run is blocked, and asks again after this.
    ///
    /// # Errors
    ///
    /// [`UnblockError`].
    pub async fn unblock(&self) -> Result<Unblocked, UnblockError> {
        unblock(&self.shared, self.run.clone()).await
    }

    /// Has it paused: see [`Client::pause`](super::Client::pause).
    ///
    /// # Errors
    ///
    /// [`PauseError`].
    pub async fn pause(&self) -> Result<Paused, PauseError> {
        pause::pause(&self.shared, self.run.clone()).await
    }

    /// Lets it go on: see [`Client::resume`](super::Client::resume).
    ///
    /// # Errors
    ///
    /// [`PauseError`].
    pub async fn resume(&self) -> Result<Resumed, PauseError> {
        pause::resume(&self.shared, self.run.clone()).await
    }

    /// Forks it, and gives the new run: see [`Client::fork`](super::Client::fork).
    ///
    /// # Errors
    ///
    /// [`ForkError`].
    pub async fn fork(
        &self,
        event: u64,
        to: impl TryInto<RunId, Error: Into<InvalidId>>,
    ) -> Result<Self, ForkError> {
        let to = to.try_into().map_err(Into::into)?;
        let run = self.run.clone();
        let forked = fork::fork(&self.shared, Wish { run, event, to }).await?;
        Ok(Self::new(Arc::clone(&self.shared), forked.run))
    }

    /// Sends it a message: see [`Client::send`](super::Client::send).
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn send<T: Data>(&self, message: Message<T>, value: &T) -> SendMessage {
        SendMessage::new(Arc::clone(&self.shared), self.run.clone(), message, value)
    }

    /// Sends it a signal: see [`Client::signal`](super::Client::signal).
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn signal<T: Data>(
        &self,
        signal: Signal<T>,
        value: &T,
    ) -> impl Future<Output = Result<(), SendError>> + Send + use<T, W> {
        send::signal(Arc::clone(&self.shared), self.run.clone(), signal, value)
    }

    /// Asks it for a change: see [`Client::update`](super::Client::update).
    ///
    /// # Errors
    ///
    /// [`UpdateError`](super::UpdateError).
    pub fn update<In: Data, Out: Data, Refused: Data>(
        &self,
        update: perennial::Update<In, Out, Refused>,
        input: &In,
    ) -> UpdateRun<Out, Refused> {
        UpdateRun::new(Arc::clone(&self.shared), self.run.clone(), update, input)
    }

    /// Completes an operation that it has offered: see [`Client::fulfil`](super::Client::fulfil).
    ///
    /// # Errors
    ///
    /// [`FulfilError`](super::FulfilError); [`OtherRun`](super::FulfilError::OtherRun) where the reference is one of another run (B13).
    #[doc(alias = "fulfill", alias = "resolve", alias = "complete")]
    pub fn fulfil<M, F: StubFn<M>>(
        &self,
        reference: impl TryInto<OperationId, Error: Into<InvalidId>>,
        stub: F,
        value: &<F::S as Stub>::Output,
    ) -> Fulfil {
        let _ = stub;
        let (shared, namespace) = (Arc::clone(&self.shared), self.run.namespace.clone());
        let reference = reference.try_into().map_err(Into::into);
        Fulfil::typed(shared, namespace, reference, F::S::NAME, value.to_value())
            .only(self.run.id.clone())
    }

    /// Lists the calls of stubs that it has made: see [`Client::offers`](super::Client::offers).
    pub fn offers(&self) -> ListOffers {
        ListOffers::new(Arc::clone(&self.shared), self.run.clone())
    }

    /// Lists the messages that it was sent: see [`Client::list_messages`](super::Client::list_messages).
    pub fn list_messages(&self) -> ListMessages {
        ListMessages::new(Arc::clone(&self.shared), self.run.clone())
    }

    /// What it gives out in a stream: see [`Client::stream`](super::Client::stream).
    pub fn stream<T: Data>(&self, stream: Stream<T>) -> Items<T> {
        Items::new(Arc::clone(&self.shared), self.run.clone(), stream)
    }

    /// What a view of it shows: see [`Client::view`](super::Client::view).
    ///
    /// # Errors
    ///
    /// [`ViewError`].
    #[doc(alias = "query")]
    pub fn view<T: Data>(
        &self,
        view: View<T>,
    ) -> impl Future<Output = Result<Option<Viewed<T>>, ViewError>> + Send + use<T, W> {
        let (shared, run) = (Arc::clone(&self.shared), self.run.clone());
        view::view(shared, run, view.name().to_owned(), T::from_value)
    }

    /// Follows a view of it: see [`Client::watch`](super::Client::watch).
    pub fn watch<T: Data>(&self, view: View<T>) -> Watch<T> {
        Watch::new(Arc::clone(&self.shared), self.run.clone(), view)
    }

    /// How it stands.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub async fn status(&self) -> Result<RunInfo, ReadError> {
        status(&self.shared, self.run.clone()).await
    }

    /// Its history, with the attempts that brought no result.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub async fn history(&self) -> Result<RunHistory, ReadError> {
        history(&self.shared, self.run.clone()).await
    }
}

impl<W> Clone for RunHandle<W> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            run: self.run.clone(),
            workflow: PhantomData,
        }
    }
}

impl<W> fmt::Debug for RunHandle<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RunHandle")
            .field(&self.run.to_string())
            .finish()
    }
}
