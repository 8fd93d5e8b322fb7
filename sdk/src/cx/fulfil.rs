//! Fulfilling what runs offer (S3, S25).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Cx;
use crate::history::SlotResult;
use crate::machine::{Fulfils, Handle, Resolution};
use crate::value::{EncodeError, MAX_VALUE_BYTES, Value};
use crate::{Data, Durable, FulfilFailure, OperationId, Receipt, Stub, StubFn};

impl Cx {
    /// Fulfils what a run of the same namespace offers, this one included: what
    /// [`Offer::reference`](crate::Offer::reference) names, with a value of the type of the stub. It is fulfilled by
    /// the commit that records the decision, and so exactly once: a crash leaves both or neither, and a replay fulfils
    /// nothing. What came of it is recorded as well, before anything else that the run is told.
    ///
    /// ```
    /// use perennial::prelude::*;
    ///
    /// /// Somebody looks at an order.
    /// #[stub]
    /// async fn review(cx: &Cx, order: String) -> bool;
    ///
    /// /// Says yes to all that it is asked.
    /// #[workflow]
    /// async fn reviewer(cx: &Cx, asked: OperationId) -> Result<(), Error> {
    ///     match cx.fulfil(&asked, review, &true).await {
    ///         Ok(_) => Ok(()),
    ///         // Somebody else has said no, or nobody waits for it any more.
    ///         Err(FulfilFailure::Conflict { .. } | FulfilFailure::Closed { .. }) => Ok(()),
    ///         Err(failure) => Err(failure.into()),
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// It is decided when it is first polled. Dropping it later takes nothing back: the offer is fulfilled. An offer of
    /// the run itself that it drops before its next wait is closed before that.
    ///
    /// # Errors
    ///
    /// [`FulfilFailure`]: the offer is not fulfilled with that value, and why.
    #[doc(alias = "fulfill", alias = "resolve", alias = "complete")]
    pub fn fulfil<F, M>(
        &self,
        reference: &OperationId,
        stub: F,
        value: &<F::S as Stub>::Output,
    ) -> Fulfilling
    where
        F: StubFn<M>,
    {
        let _ = stub;
        Fulfilling {
            handle: Handle::new(self),
            reference: reference.clone(),
            stub: F::S::NAME,
            value: Some(value.to_value()),
        }
    }
}

/// A value on its way to what a run offers: `cx.fulfil(&reference, review, &true)`. The [`Receipt`] is that of the
/// row in the run's queue; of a value that it had before, it is the first one's, and a
/// [`duplicate`](Receipt::duplicate).
#[must_use = "nothing is fulfilled before this is awaited"]
pub struct Fulfilling {
    handle: Handle,
    reference: OperationId,
    stub: &'static str,
    /// Until it is decided.
    value: Option<Result<Value, EncodeError>>,
}

impl Future for Fulfilling {
    type Output = Result<Receipt, FulfilFailure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if !this.handle.is_started() {
            match this.value.take() {
                Some(Ok(value)) => this.handle.request_fulfil(Fulfils {
                    reference: &this.reference,
                    stub: this.stub,
                    value,
                }),
                // The same value is too large in each replay, so this needs no event.
                Some(Err(EncodeError::TooLarge { size, .. })) => {
                    if this.handle.refuse_fulfil().is_none() {
                        return Poll::Pending;
                    }
                    return Poll::Ready(Err(FulfilFailure::TooLarge {
                        size: size as u64,
                        limit: MAX_VALUE_BYTES as u64,
                    }));
                }
                Some(Err(error)) => {
                    let what = format!("what `{}` is fulfilled with", this.stub);
                    return this.handle.unstorable(what, error);
                }
                // It could not be started, or was refused.
                None => return Poll::Pending,
            }
        }
        match this.handle.poll(context) {
            Poll::Ready(Resolution::Slot(SlotResult::Fulfilled(receipt))) => {
                Poll::Ready(Ok(receipt))
            }
            Poll::Ready(Resolution::Slot(SlotResult::NotFulfilled(failure))) => {
                Poll::Ready(Err(failure))
            }
            _ => Poll::Pending,
        }
    }
}

#[diagnostic::do_not_recommend]
impl Durable for Fulfilling {}

impl fmt::Debug for Fulfilling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fulfilling")
            .field("reference", &self.reference)
            .field("stub", &self.stub)
            .finish_non_exhaustive()
    }
}
