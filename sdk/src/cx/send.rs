//! Telling other runs something (S3).

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Cx;
use crate::history::{Channel, SlotResult};
use crate::machine::{Handle, Resolution, Sends};
use crate::value::{EncodeError, MAX_VALUE_BYTES, Value};
use crate::{Data, Durable, Message, Receipt, RunId, SendFailure, Signal};

impl Cx {
    /// Sends a message to a run of the same namespace, this one included (M50). It is sent by the commit that records
    /// the decision to send it, and so exactly once: a crash leaves both or neither, and a replay sends nothing (M47,
    /// M48). What came of it is recorded as well, before anything else that the run is told.
    ///
    /// ```
    /// use perennial::prelude::*;
    ///
    /// const RESERVED: Message<u32> = Message::new("reserved");
    ///
    /// #[workflow]
    /// async fn reserve(cx: &Cx, order: RunId, seats: u32) -> Result<(), Error> {
    ///     match cx.send(&order, RESERVED, &seats).await {
    ///         Ok(_) => Ok(()),
    ///         // The order is over: nobody waits for the seats any more.
    ///         Err(SendFailure::RunFinished { .. }) => Ok(()),
    ///         Err(failure) => Err(failure.into()),
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// It is decided when it is first polled. Dropping it later takes nothing back: the message is sent.
    ///
    /// # Errors
    ///
    /// [`SendFailure`]: the run has not got it, and why.
    pub fn send<T: Data>(&self, run: &RunId, message: Message<T>, value: &T) -> Sending<Receipt> {
        Sending::new(self, run, Channel::Message, message.name(), value)
    }

    /// Sends a signal to a run of the same namespace, as [`send`](Self::send) does a message: it reaches the waits
    /// for it that the run has when it arrives, and is dropped where there are none (M54).
    ///
    /// # Errors
    ///
    /// [`SendFailure`]: the run has not got it, and why. That nothing waited for it is none.
    pub fn signal<T: Data>(&self, run: &RunId, signal: Signal<T>, value: &T) -> Sending<()> {
        Sending::new(self, run, Channel::Signal, signal.name(), value)
    }
}

/// A message or a signal on its way to another run: `cx.send(&order, RESERVED, &seats)`. `R` is what is given back
/// once it was sent: a [`Receipt`] of a message, nothing of a signal.
#[must_use = "nothing is sent before this is awaited"]
pub struct Sending<R> {
    handle: Handle,
    run: RunId,
    channel: Channel,
    name: &'static str,
    /// Until it is decided.
    payload: Option<Result<Value, EncodeError>>,
    result: PhantomData<fn() -> R>,
}

impl<R> Sending<R> {
    fn new<T: Data>(cx: &Cx, run: &RunId, channel: Channel, name: &'static str, value: &T) -> Self {
        Self {
            handle: Handle::new(cx),
            run: run.clone(),
            channel,
            name,
            payload: Some(value.to_value()),
            result: PhantomData,
        }
    }

    fn poll_sent(&mut self, context: &mut Context<'_>) -> Poll<Result<Receipt, SendFailure>> {
        if !self.handle.is_started() {
            match self.payload.take() {
                Some(Ok(payload)) => self.handle.request_send(Sends {
                    run: &self.run,
                    channel: self.channel,
                    name: self.name,
                    payload,
                }),
                // The same value is too large in each replay, so this needs no event.
                Some(Err(EncodeError::TooLarge { size, .. })) => {
                    if self.handle.refuse_send().is_none() {
                        return Poll::Pending;
                    }
                    return Poll::Ready(Err(SendFailure::TooLarge {
                        size: size as u64,
                        limit: MAX_VALUE_BYTES as u64,
                    }));
                }
                Some(Err(error)) => {
                    let what = format!("what is sent as \"{}\"", self.name);
                    return self.handle.unstorable(what, error);
                }
                // It could not be started, or was refused.
                None => return Poll::Pending,
            }
        }
        match self.handle.poll(context) {
            Poll::Ready(Resolution::Slot(SlotResult::Sent(receipt))) => Poll::Ready(Ok(receipt)),
            Poll::Ready(Resolution::Slot(SlotResult::NotSent(failure))) => {
                Poll::Ready(Err(failure))
            }
            _ => Poll::Pending,
        }
    }
}

impl Future for Sending<Receipt> {
    type Output = Result<Receipt, SendFailure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_sent(context)
    }
}

impl Future for Sending<()> {
    type Output = Result<(), SendFailure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_sent(context).map_ok(drop)
    }
}

#[diagnostic::do_not_recommend]
impl Durable for Sending<Receipt> {}

#[diagnostic::do_not_recommend]
impl Durable for Sending<()> {}

impl<R> fmt::Debug for Sending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending")
            .field("run", &self.run)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
