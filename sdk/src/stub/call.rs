//! A call of a stub by a workflow: it is offered, and somebody outside fulfils it.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Stub;
use crate::cx::Sleep;
use crate::cx::too_long;
use crate::machine::Handle;
use crate::value::{DecodeError, EncodeError, MAX_VALUE_BYTES, Value};
use crate::{Cancelled, Cx, Data, Durable, OperationId, SleepError};

/// A call of the stub `S`: wait for it as it is, with a time limit, or [`open`](Self::open) it first, to hand its
/// reference to whoever is to fulfil it.
///
/// ```
/// # use perennial::prelude::*;
/// # #[activity(idempotent)]
/// # async fn ask(_acx: &ActivityCx, reference: String) -> Result<(), Failure> { let _ = reference; Ok(()) }
/// /// A person looks at an order.
/// #[stub]
/// async fn review(cx: &Cx, order: String) -> bool;
///
/// #[workflow]
/// async fn purchase(cx: &Cx, order: String) -> Result<bool, Error> {
///     let offer = review(cx, order).open()?;
///     ask(cx, offer.reference().to_string()).await?;
///     Ok(offer.timeout(days(7)).await?.unwrap_or(false))
/// }
/// # fn main() { assert_eq!(review::NAME, "review"); }
/// ```
#[must_use = "a stub is offered only when its call is awaited or opened"]
pub struct StubCall<S: Stub> {
    cx: Cx,
    input: S::Input,
}

impl<S: Stub> StubCall<S> {
    #[doc(hidden)]
    pub fn new(cx: &Cx, input: S::Input) -> Self {
        Self {
            cx: cx.clone(),
            input,
        }
    }

    /// Offers the stub now, without waiting for its result: so its reference is known, and can be handed on. From the
    /// commit of what the workflow does up to its next wait on, the stub can be fulfilled.
    ///
    /// # Errors
    ///
    /// [`StubError`]: the input is too large, or the run is cancelled.
    #[track_caller]
    pub fn open(self) -> Result<Offer<S::Output>, StubError> {
        Offer::open(self.into_future(), Location::caller())
    }

    /// Waits no longer than `duration`, counted as [`Cx::sleep`] counts it; then the offer is closed. The wait and
    /// its time limit are two operations: of the result and the time limit the one wins that the run is told first.
    ///
    /// # Errors
    ///
    /// As those of the wait; `Ok(None)` when the time is over.
    pub fn timeout(self, duration: Duration) -> StubTimeout<S::Output> {
        self.into_future().limited(duration)
    }
}

impl<S: Stub> fmt::Debug for StubCall<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StubCall").field(&S::NAME).finish()
    }
}

impl<S: Stub> IntoFuture for StubCall<S> {
    type Output = Result<S::Output, StubError>;
    type IntoFuture = StubFuture<S::Output>;

    fn into_future(self) -> Self::IntoFuture {
        StubFuture::new(Handle::new(&self.cx), S::NAME, self.input.to_value())
    }
}

#[diagnostic::do_not_recommend]
impl<S: Stub> Durable for StubCall<S> {}

/// Why a stub has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StubError {
    /// The run was cancelled while it waited (S29).
    Cancelled,
    /// The time limit is [too far away](crate::SleepError::TooLong). The offer is closed.
    LimitTooLong {
        /// How long it would have been.
        length: Duration,
    },
    /// What it was fulfilled with is not of the type. That is recorded, the offer is over, and the workflow decides
    /// what to do.
    Invalid {
        /// The stub's name.
        name: String,
        /// The offer: `<run>~<number>`.
        reference: OperationId,
        /// What is wrong with it, and where.
        problem: String,
    },
    /// The input is too large to be stored, so that it was not offered.
    TooLarge {
        /// The size in bytes.
        size: u64,
        /// The bound in bytes.
        limit: u64,
    },
}

impl fmt::Display for StubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::LimitTooLong { length } => too_long(f, "time limit", *length),
            Self::Invalid {
                name,
                reference,
                problem,
            } => write!(
                f,
                "what the stub `{name}` was fulfilled with, as {reference}, is not of its type: {problem}"
            ),
            Self::TooLarge { size, limit } => write!(
                f,
                "the input of a stub is too large: {size} bytes, and at most {limit} can be stored"
            ),
        }
    }
}

impl std::error::Error for StubError {}

impl From<Cancelled> for StubError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<SleepError> for StubError {
    fn from(error: SleepError) -> Self {
        match error {
            SleepError::Cancelled => Self::Cancelled,
            SleepError::TooLong { length } => Self::LimitTooLong { length },
        }
    }
}

/// A stub that is offered when this is first polled, and waited for.
#[must_use = "futures do nothing unless they are awaited"]
pub struct StubFuture<T> {
    operation: StubOperation,
    /// Here and not as a bound: of a type that cannot be stored only the attribute is to speak.
    decode: fn(&Value) -> Result<T, DecodeError>,
}

impl<T: Data> StubFuture<T> {
    pub(super) fn new(
        handle: Handle,
        name: &'static str,
        input: Result<Value, EncodeError>,
    ) -> Self {
        Self {
            operation: StubOperation {
                handle,
                name,
                input: Some(input),
            },
            decode: T::from_value,
        }
    }
}

impl<T> StubFuture<T> {
    /// Offers the stub, at `place` where that is no await.
    pub(super) fn start(
        &mut self,
        place: Option<&'static Location<'static>>,
    ) -> Result<(), StubError> {
        self.operation.start(place)
    }

    /// The operation. Number 0 is none: it could not be offered, and nothing goes on.
    pub(super) fn reference(&self) -> OperationId {
        self.operation.handle.reference()
    }

    fn limited(self, duration: Duration) -> StubTimeout<T> {
        let limit = Sleep::after(self.operation.handle.another(), duration);
        StubTimeout {
            waits: Some((self, limit)),
            limited: false,
        }
    }
}

impl<T> Future for StubFuture<T> {
    type Output = Result<T, StubError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.start(None)?;
        let Poll::Ready(value) = self.operation.handle.poll_fulfilled(context) else {
            return Poll::Pending;
        };
        let handle = &mut self.operation.handle;
        let problem = match handle.was_invalid() {
            // A later type may be able to read it, and the run has gone another way (M37).
            true => String::new(),
            false => match (self.decode)(&value) {
                Ok(value) => return Poll::Ready(Ok(value)),
                Err(error) if self.operation.handle.is_replaying() => {
                    return self.operation.undecodable(error);
                }
                Err(error) => error.to_string(),
            },
        };
        match self.operation.handle.decide_invalid(problem) {
            Some(problem) => Poll::Ready(Err(StubError::Invalid {
                name: self.operation.name.to_owned(),
                reference: self.reference(),
                problem,
            })),
            // After a difference nothing goes on.
            None => Poll::Pending,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for StubFuture<T> {}

impl<T> fmt::Debug for StubFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StubFuture")
            .field(&self.operation.name)
            .finish()
    }
}

/// A stub that is offered. Waits for its result; dropping it closes the offer, and that is recorded (S12).
#[must_use = "dropping an offer closes it"]
pub struct Offer<T>(StubFuture<T>);

impl<T> Offer<T> {
    fn open(
        mut future: StubFuture<T>,
        place: &'static Location<'static>,
    ) -> Result<Self, StubError> {
        future.start(Some(place))?;
        Ok(Self(future))
    }

    /// What whoever fulfils it has to know, written `<run>~<number>`. It is unlike that of each other offer, of this
    /// run and of all others of its namespace.
    #[must_use]
    pub fn reference(&self) -> OperationId {
        self.0.reference()
    }

    /// Waits no longer than `duration`, counted from when this is first waited for; then the offer is closed.
    ///
    /// # Errors
    ///
    /// As those of the wait; `Ok(None)` when the time is over.
    pub fn timeout(self, duration: Duration) -> StubTimeout<T> {
        self.0.limited(duration)
    }
}

impl<T> Future for Offer<T> {
    type Output = Result<T, StubError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for Offer<T> {}

impl<T> fmt::Debug for Offer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, reference) = (self.0.operation.name, self.reference());
        f.debug_tuple("Offer")
            .field(&name)
            .field(&reference)
            .finish()
    }
}

/// A wait for a stub with a time limit: `review(cx, order).timeout(days(7))`.
#[must_use = "a wait begins only when it is awaited"]
pub struct StubTimeout<T> {
    /// `None` once it has its result.
    waits: Option<(StubFuture<T>, Sleep)>,
    /// Whether the offer is known to have that limit.
    limited: bool,
}

impl<T> Future for StubTimeout<T> {
    type Output = Result<Option<T>, StubError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { waits, limited } = &mut *self;
        let Some((stub, limit)) = waits else {
            panic!("a stub with a time limit was awaited again after it had given its result");
        };
        let result = match Pin::new(&mut *stub).poll(context) {
            Poll::Ready(result) => result.map(Some),
            Poll::Pending => match Pin::new(&mut *limit).poll(context) {
                Poll::Ready(result) => result.map(|()| None).map_err(Into::into),
                Poll::Pending => {
                    if !std::mem::replace(limited, true) {
                        stub.operation.handle.limit_offer(limit.handle());
                    }
                    return Poll::Pending;
                }
            },
        };
        // What has lost is dropped now, which is a decision (S12).
        self.waits = None;
        Poll::Ready(result)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for StubTimeout<T> {}

impl<T> fmt::Debug for StubTimeout<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StubTimeout").field(&self.waits).finish()
    }
}

/// The part of a call that needs no types.
struct StubOperation {
    handle: Handle,
    name: &'static str,
    /// Until it is offered.
    input: Option<Result<Value, EncodeError>>,
}

impl StubOperation {
    /// Offers it, if that has not been done.
    fn start(&mut self, place: Option<&'static Location<'static>>) -> Result<(), StubError> {
        match self.input.take() {
            None => {}
            Some(Ok(input)) => self.handle.offer_stub(self.name, input, place),
            // The same input is too large in each replay, so this needs no event.
            Some(Err(EncodeError::TooLarge { size, .. })) => {
                return match self.handle.refuse_stub() {
                    Some(()) => Err(StubError::TooLarge {
                        size: size as u64,
                        limit: MAX_VALUE_BYTES as u64,
                    }),
                    // An error has stopped the machine.
                    None => Ok(()),
                };
            }
            Some(Err(error)) => {
                let what = format!("the input of `{}`", self.name);
                let _: Poll<()> = self.handle.unstorable(what, error);
            }
        }
        Ok(())
    }

    fn undecodable<T>(&mut self, error: DecodeError) -> Poll<T> {
        self.handle.undecodable(self.name, error)
    }
}
