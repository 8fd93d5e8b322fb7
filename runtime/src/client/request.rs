//! Request and reply over a stub: somebody outside gives a run what it waits for, and waits for what it says next (B20).

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use perennial::value::DecodeError;
use perennial::{Data, OperationId, RunKey, Stub, Timestamp};
use tokio::sync::oneshot;

use super::fulfil::Fulfil;
use super::fulfil_error::{Ended, FulfilError};
use super::{offers, read};
use crate::engine::{Heard, Message, Replied, ReplyRequest, Shared, WaitError};
use crate::error::{ReadError, Unavailable};
use crate::store::{Offer, StoreError};

/// A request to a run, to be awaited. See [`Client::request`](super::Client::request).
#[must_use = "a request is made only when this is awaited"]
pub struct Request<S> {
    fulfil: Fulfil,
    timeout: Option<Duration>,
    stub: PhantomData<fn() -> S>,
}

/// What a run says to a request: the next call of the stub.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reply<T> {
    /// What it says: the input of the call.
    pub value: T,
    /// The call, which waits for the next request.
    pub reference: OperationId,
    /// When it was made.
    pub at: Timestamp,
}

impl<S: Stub> Request<S> {
    pub(super) fn new(fulfil: Fulfil) -> Self {
        Self {
            fulfil,
            timeout: None,
            stub: PhantomData,
        }
    }

    /// Waits no longer than `duration` for the reply, counted from when the run has the request. It has it then, and
    /// the same request can be made again, for the same reply.
    pub fn timeout(mut self, duration: Duration) -> Self {
        self.timeout = Some(duration);
        self
    }
}

impl<S: Stub> IntoFuture for Request<S> {
    type Output = Result<Reply<S::Input>, RequestError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            fulfil, timeout, ..
        } = self;
        Box::pin(async move {
            let shared = fulfil.shared();
            let (run, reference) = fulfil.target()?;
            fulfil.await?;
            let waiting = wait(&shared, run.clone(), &reference, S::NAME);
            let offer = match timeout {
                None => waiting.await?,
                Some(duration) => {
                    // Made under the runtime's own clockwork: whoever asks need not be on its threads.
                    let limit = {
                        let _entered = shared.tokio.enter();
                        tokio::time::sleep(duration)
                    };
                    tokio::select! {
                        biased;
                        offer = waiting => offer?,
                        () = limit => return Err(RequestError::TimedOut { reference }),
                    }
                }
            };
            reply(&shared, run, offer).await
        })
    }
}

impl<S: Stub> fmt::Debug for Request<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("fulfil", &self.fulfil)
            .field("timeout", &self.timeout)
            .finish()
    }
}

/// The next call of the stub that the run makes when it has heard the request.
async fn wait(
    shared: &Arc<Shared>,
    run: RunKey,
    reference: &OperationId,
    stub: &str,
) -> Result<Offer, RequestError> {
    let (key, operation) = (run.clone(), reference.number);
    // A history may be long: it is looked through here, so that nobody is held up by it.
    let heard = read(shared, move |shared| {
        let store = &*shared.store;
        Ok(match store.offer(&key, operation)? {
            Some(offer) => Heard::default().look(store, &key, &offer)?,
            None => Heard::default(),
        })
    });
    let (reply, answer) = oneshot::channel();
    let request = ReplyRequest {
        run: run.clone(),
        stub: stub.to_owned(),
        operation,
        heard: heard.await.map_err(|error| unreadable(reference, error))?,
        reply,
    };
    shared.tell(&run, Message::AwaitReply(request));
    let stopped = |_| Err(WaitError::Unavailable(Unavailable::Stopped));
    match answer.await.unwrap_or_else(stopped) {
        Ok(Replied::Offer(offer)) => Ok(offer),
        Ok(Replied::Dropped(at)) => Err(RequestError::NotHeard {
            reference: reference.clone(),
            at,
        }),
        Ok(Replied::Ended(ended)) => Err(RequestError::RunEnded {
            reference: reference.clone(),
            ended,
        }),
        Err(WaitError::Blocked { code, text }) => Err(RequestError::RunBlocked {
            reference: reference.clone(),
            code,
            text,
        }),
        Err(WaitError::Unavailable(error)) => Err(RequestError::Unavailable(error)),
        Err(WaitError::NotFound | WaitError::Purged { .. } | WaitError::Migrated { .. }) => {
            Err(RequestError::RunGone { run })
        }
    }
}

async fn reply<T: Data>(
    shared: &Arc<Shared>,
    run: RunKey,
    offer: Offer,
) -> Result<Reply<T>, RequestError> {
    let reference = OperationId {
        run: run.id.clone(),
        number: offer.operation,
    };
    let at = offer.at;
    let input = read(shared, move |shared| {
        Ok(offers::said(&*shared.store, &run, &offer)?)
    });
    let value = input.await.map_err(|error| unreadable(&reference, error))?;
    match T::from_value(&value) {
        Ok(value) => Ok(Reply {
            value,
            reference,
            at,
        }),
        Err(error) => Err(RequestError::Undecodable { reference, error }),
    }
}

fn unreadable(reference: &OperationId, error: ReadError) -> RequestError {
    RequestError::Unavailable(match error {
        ReadError::Unavailable(error) => error,
        error => {
            let what = format!("reading {reference}");
            let error = error.to_string();
            StoreError::Io { what, error }.into()
        }
    })
}

/// Why a request has no reply.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum RequestError {
    /// The run was not given the request.
    NotGiven(FulfilError),
    /// The run was given the request, and has gone another way before it heard it: what had come before it was told first,
    /// and with that it has dropped the call. It does not reply.
    NotHeard {
        /// The operation that it was given for.
        reference: OperationId,
        /// When the run dropped it.
        at: Timestamp,
    },
    /// The run has the request, and has not replied in time.
    TimedOut {
        /// The operation that was completed.
        reference: OperationId,
    },
    /// The run has the request, and has ended without a reply.
    RunEnded {
        /// The operation that was completed.
        reference: OperationId,
        /// How it has ended.
        ended: Ended,
    },
    /// The run has the request, and this program cannot go on with it.
    RunBlocked {
        /// The operation that was completed.
        reference: OperationId,
        /// The code of the error that it is blocked by.
        code: String,
        /// What it says.
        text: String,
    },
    /// The run is not there any more, or has begun anew.
    RunGone {
        /// The run.
        run: RunKey,
    },
    /// The run has replied with something that is not of the stub's input type.
    Undecodable {
        /// The operation that it replied with.
        reference: OperationId,
        /// What is wrong with it, and where.
        error: DecodeError,
    },
    /// The store or the engine could not do it. The run may have the request.
    Unavailable(Unavailable),
}

impl From<FulfilError> for RequestError {
    fn from(error: FulfilError) -> Self {
        Self::NotGiven(error)
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGiven(error) => error.fmt(f),
            Self::NotHeard { reference, at } => write!(
                f,
                "the run has not heard what it was given as {reference}, and does not reply to it: at {at} it had gone \
                 another way, because of what had come before\n\n\
                 help: `client.offers(..)` shows what the run waits for now"
            ),
            Self::TimedOut { reference } => write!(
                f,
                "the run has what it was given as {reference}, and has not replied in time\n\n\
                 help: make the same request again, with the same reference and value: it is not given twice, and has \
                 the same reply"
            ),
            Self::RunEnded { reference, ended } => write!(
                f,
                "the run has what it was given as {reference}, and {} at {} without a reply\n\n\
                 help: what it returned is its answer: `client.run(..)?.result()`",
                ended.verb(),
                ended.at
            ),
            Self::RunBlocked {
                reference,
                code,
                text,
            } => write!(
                f,
                "the run has what it was given as {reference}, and this program cannot go on with it ({code}): {text}"
            ),
            Self::RunGone { run } => {
                write!(
                    f,
                    "there is no reply, since run {run} is not there any more, or has begun anew"
                )
            }
            Self::Undecodable { reference, error } => write!(
                f,
                "the run has replied with {reference}, which is not of the type that the stub has here: {error}"
            ),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RequestError {}
