//! Waiting for what a run is told from outside (S25).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Cx, Sleep, SleepError, too_long};
use crate::history::Channel;
use crate::machine::{Arrived, Handle};
use crate::value::{DecodeError, Value};
use crate::{Cancelled, Data, Durable, Message, Signal};

impl Cx {
    /// Waits for the next message of that name, and takes it: the oldest one that no wait has taken, whether it
    /// was sent before the wait or comes later. Waits for one name are served in the order in which they began
    /// (M25). There is no hidden time limit; [`timeout`](Receive::timeout) sets one (M36).
    ///
    /// A wait that is dropped before it has returned its message, as by a lost [`select!`](crate::select!), leaves
    /// the message to the next one (M28).
    ///
    /// # Errors
    ///
    /// [`ReceiveError`]: the run is cancelled meanwhile, or the message is not of the type.
    pub fn receive<T: Data>(&self, message: Message<T>) -> Receive<T> {
        Receive::new(self, Channel::Message, message.name())
    }

    /// Waits for the next signal of that name. One that came before the wait began is not seen (M54).
    ///
    /// # Errors
    ///
    /// [`ReceiveError`]: the run is cancelled meanwhile, or the signal is not of the type.
    pub fn wait_for<T: Data>(&self, signal: Signal<T>) -> Receive<T> {
        Receive::new(self, Channel::Signal, signal.name())
    }
}

/// Why there is no message, or signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReceiveError {
    /// The run was cancelled while it waited (S29).
    Cancelled,
    /// The time limit is [too far away](crate::SleepError::TooLong). The wait is over: what would have come stays for
    /// the next one.
    LimitTooLong {
        /// How long it would have been.
        length: Duration,
    },
    /// What came is not of the type. That is recorded, the message is taken, and the workflow decides what to do;
    /// it does not come again (M37).
    Invalid {
        /// The name of the message or signal.
        name: String,
        /// Its number in the run.
        number: u64,
        /// What is wrong with it, and where.
        problem: String,
    },
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::LimitTooLong { length } => too_long(f, "time limit", *length),
            Self::Invalid {
                name,
                number,
                problem,
            } => write!(
                f,
                "number {number} of what the run was sent, \"{}\", is not of the type that it waits for: {problem}",
                name.escape_debug()
            ),
        }
    }
}

impl std::error::Error for ReceiveError {}

impl From<Cancelled> for ReceiveError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<SleepError> for ReceiveError {
    fn from(error: SleepError) -> Self {
        match error {
            SleepError::Cancelled => Self::Cancelled,
            SleepError::TooLong { length } => Self::LimitTooLong { length },
        }
    }
}

/// A wait for a message or a signal.
#[must_use = "a wait begins only when it is awaited"]
pub struct Receive<T> {
    handle: Handle,
    channel: Channel,
    name: &'static str,
    /// Here and not as a bound of what waits: of a type that cannot be stored only the call is to speak.
    decode: fn(&Value) -> Result<T, DecodeError>,
}

impl<T> Receive<T> {
    fn new(cx: &Cx, channel: Channel, name: &'static str) -> Self
    where
        T: Data,
    {
        Self {
            handle: Handle::new(cx),
            channel,
            name,
            decode: T::from_value,
        }
    }

    /// Waits no longer than `duration`, counted as [`Cx::sleep`] counts it. The wait and its time limit are two
    /// operations: of a message and the time limit the one wins that the run is told first (M33, M34).
    ///
    /// # Errors
    ///
    /// As those of the wait; `Ok(None)` when the time is over (M32).
    pub fn timeout(self, duration: Duration) -> ReceiveTimeout<T> {
        let limit = Sleep::after(self.handle.another(), duration);
        ReceiveTimeout {
            waits: Some((self, limit)),
        }
    }
}

impl<T> Future for Receive<T> {
    type Output = Result<T, ReceiveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (channel, name) = (self.channel, self.name);
        if !self.handle.is_started() {
            self.handle.start_receive(channel, name);
        }
        let Poll::Ready(arrived) = self.handle.poll_arrived(context) else {
            return Poll::Pending;
        };
        let Arrived {
            number, payload, ..
        } = &arrived;
        let decoded = (self.decode)(payload);
        let problem = decoded.as_ref().err().map(ToString::to_string);
        // After a difference nothing goes on.
        let Some(recorded) = self.handle.decide_received(channel, *number, problem) else {
            return Poll::Pending;
        };
        match (recorded, decoded) {
            (Some(problem), _) => Poll::Ready(Err(ReceiveError::Invalid {
                name: name.to_owned(),
                number: *number,
                problem,
            })),
            (None, Ok(value)) => Poll::Ready(Ok(value)),
            (None, Err(error)) => self.handle.undecodable_arrival(name, &arrived, &error),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for Receive<T> {}

impl<T> fmt::Debug for Receive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receive").field(&self.name).finish()
    }
}

/// A wait for a message or a signal with a time limit: `cx.receive(APPROVAL).timeout(days(7))`.
#[must_use = "a wait begins only when it is awaited"]
pub struct ReceiveTimeout<T> {
    /// `None` once it has its result.
    waits: Option<(Receive<T>, Sleep)>,
}

impl<T> Future for ReceiveTimeout<T> {
    type Output = Result<Option<T>, ReceiveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some((receive, limit)) = &mut self.waits else {
            panic!("a wait with a time limit was awaited again after it had given its result");
        };
        let result = match Pin::new(receive).poll(context) {
            Poll::Ready(result) => result.map(Some),
            Poll::Pending => match Pin::new(limit).poll(context) {
                Poll::Ready(result) => result.map(|()| None).map_err(Into::into),
                Poll::Pending => return Poll::Pending,
            },
        };
        // What has lost is dropped now, which is a decision (S12).
        self.waits = None;
        Poll::Ready(result)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for ReceiveTimeout<T> {}

impl<T> fmt::Debug for ReceiveTimeout<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReceiveTimeout").field(&self.waits).finish()
    }
}
