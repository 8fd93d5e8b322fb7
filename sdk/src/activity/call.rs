//! A call of an activity by a workflow.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::{Activity, ActivityOptions, ActivityResult, Overrides, Retry};
use crate::history::ActivityFailure;
use crate::machine::{Handle, Resolution};
use crate::value::{DecodeError, EncodeError, MAX_VALUE_BYTES, Value};
use crate::{ActivityError, Cx, Data, Durable};

/// A call of the activity `A`: set options, then wait for it.
///
/// ```
/// # use perennial::prelude::*;
/// # #[activity(idempotent)]
/// # async fn charge_card(_acx: &ActivityCx, order: String) -> Result<u64, Failure> { Ok(order.len() as u64) }
/// #[workflow]
/// async fn charge(cx: &Cx, order: String) -> Result<u64, Error> {
///     let retry = Retry::new().attempts(3);
///     Ok(charge_card(cx, order).retry(retry).attempt(seconds(10)).await?)
/// }
/// # fn main() {}
/// ```
#[must_use = "an activity starts only when its call is awaited"]
pub struct Call<A: Activity> {
    cx: Cx,
    input: A::Input,
    overrides: Overrides,
}

impl<A: Activity> Call<A> {
    #[doc(hidden)]
    pub fn new(cx: &Cx, input: A::Input) -> Self {
        Self {
            cx: cx.clone(),
            input,
            overrides: Overrides::default(),
        }
    }

    /// What follows a failed attempt of this call, in place of what the activity declares.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.overrides.retry = Some(retry);
        self
    }

    /// How long one attempt of this call may take, in place of what the activity declares.
    pub fn attempt(mut self, deadline: Duration) -> Self {
        self.overrides.attempt = Some(deadline);
        self
    }

    /// How long all attempts of this call together may take, in place of what the activity declares.
    pub fn timeout(mut self, deadline: Duration) -> Self {
        self.overrides.timeout = Some(deadline);
        self
    }
}

impl<A: Activity> fmt::Debug for Call<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&A::NAME).finish()
    }
}

type ValueOf<A> = <<A as Activity>::Output as ActivityResult>::Value;
type RejectionOf<A> = <<A as Activity>::Output as ActivityResult>::Rejection;

impl<A: Activity> IntoFuture for Call<A> {
    type Output = Result<ValueOf<A>, ActivityError<RejectionOf<A>>>;
    type IntoFuture = CallFuture<ValueOf<A>, RejectionOf<A>>;

    fn into_future(self) -> Self::IntoFuture {
        CallFuture {
            operation: ActivityOperation {
                handle: Handle::new(&self.cx),
                name: A::NAME,
                input: Some(self.input.to_value()),
                options: self.overrides.apply(A::OPTIONS),
            },
            types: PhantomData,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<A: Activity> Durable for Call<A> {}

/// Waits for an activity.
#[must_use = "futures do nothing unless they are awaited"]
pub struct CallFuture<T, R> {
    operation: ActivityOperation,
    types: PhantomData<fn() -> (T, R)>,
}

impl<T, R> fmt::Debug for CallFuture<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallFuture")
            .field(&self.operation.name)
            .finish()
    }
}

impl<T: Data, R: Data> Future for CallFuture<T, R> {
    type Output = Result<T, ActivityError<R>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(end) = self.operation.poll(context) else {
            return Poll::Pending;
        };
        let decoded = match end {
            Ok(value) => T::from_value(&value).map(Ok),
            Err(ActivityFailure::Rejected { value }) => {
                R::from_value(&value).map(|why| Err(ActivityError::Rejected(why)))
            }
            Err(other) => Ok(Err(untyped(other))),
        };
        match decoded {
            Ok(result) => Poll::Ready(result),
            Err(error) => self.operation.undecodable(error),
        }
    }
}

fn untyped<R>(failure: ActivityFailure) -> ActivityError<R> {
    match failure {
        ActivityFailure::RetriesExhausted { last, attempts } => {
            ActivityError::RetriesExhausted { last, attempts }
        }
        ActivityFailure::TimedOut => ActivityError::TimedOut,
        // A rejection is decoded by the caller.
        ActivityFailure::Cancelled | ActivityFailure::Rejected { .. } => ActivityError::Cancelled,
        ActivityFailure::TooLarge { size, limit } => ActivityError::TooLarge { size, limit },
    }
}

#[diagnostic::do_not_recommend]
impl<T: Data, R: Data> Durable for CallFuture<T, R> {}

/// The part of a call that needs no types.
struct ActivityOperation {
    handle: Handle,
    name: &'static str,
    /// Until it is scheduled.
    input: Option<Result<Value, EncodeError>>,
    options: ActivityOptions,
}

impl ActivityOperation {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Value, ActivityFailure>> {
        if !self.handle.is_started() {
            match self.input.take() {
                Some(Ok(input)) => self
                    .handle
                    .schedule_activity(self.name, input, self.options),
                // The same input is too large in each replay, so this needs no event.
                Some(Err(EncodeError::TooLarge { size, .. })) => {
                    if self.handle.refuse_activity().is_none() {
                        return Poll::Pending;
                    }
                    return Poll::Ready(Err(ActivityFailure::TooLarge {
                        size: size as u64,
                        limit: MAX_VALUE_BYTES as u64,
                    }));
                }
                Some(Err(error)) => {
                    return self
                        .handle
                        .unstorable(format!("the input of `{}`", self.name), error);
                }
                // It could not be started, or was refused.
                None => return Poll::Pending,
            }
        }
        match self.handle.poll(context) {
            Poll::Ready(Resolution::Activity(end)) => Poll::Ready(end),
            _ => Poll::Pending,
        }
    }

    fn undecodable<T>(&mut self, error: DecodeError) -> Poll<T> {
        self.handle.undecodable(self.name, error)
    }
}
