//! Time, as the history tells it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Cx;
use crate::machine::{Handle, Until};
use crate::{Cancelled, Durable, Timestamp, days};

impl Cx {
    /// The time: the stamp of what the workflow was told last. It never goes back, and a replay sees the
    /// same (S6). Between two awaits it stands still.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.core().now()
    }

    /// Waits for `duration`, over crashes and restarts. It is counted from the commit that records it; the
    /// recorded deadline holds even if the code is changed to another length (S7). Never early. A length of zero is
    /// over at once, and is recorded too.
    ///
    /// # Errors
    ///
    /// [`SleepError`]: the length is more than [`MAX_SLEEP`], of which nothing is recorded, or the run is cancelled
    /// meanwhile.
    #[doc(alias = "timer", alias = "delay")]
    pub fn sleep(&self, duration: Duration) -> Sleep {
        Sleep::after(Handle::new(self), duration)
    }

    /// Waits until `time`. Where that has passed it is over at once, and is recorded too.
    ///
    /// # Errors
    ///
    /// [`SleepError`]: the time is more than [`MAX_SLEEP`] after [`now`](Self::now), of which nothing is recorded, or
    /// the run is cancelled meanwhile.
    pub fn sleep_until(&self, time: Timestamp) -> Sleep {
        Sleep {
            handle: Handle::new(self),
            until: Until::At(time),
        }
    }
}

/// The longest sleep: a hundred years. What is longer is a mistake in a calculation, and would otherwise be a run that
/// waits for ever without a word.
pub const MAX_SLEEP: Duration = days(36_525);

/// Why there was no waiting until the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SleepError {
    /// The run was cancelled while it waited (S29).
    Cancelled,
    /// The time is too far away. No timer was started.
    TooLong {
        /// How long it would have been, from [`Cx::now`] on.
        length: Duration,
    },
}

impl fmt::Display for SleepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::TooLong { length } => too_long(f, "sleep", *length),
        }
    }
}

/// That something is longer than it may be: a sleep, or a time limit.
pub(crate) fn too_long(f: &mut fmt::Formatter<'_>, what: &str, length: Duration) -> fmt::Result {
    write!(
        f,
        "a {what} of {} days is too long: the longest is {} days",
        length.as_millis().div_ceil(86_400_000),
        MAX_SLEEP.as_secs() / 86_400
    )
}

impl std::error::Error for SleepError {}

impl From<Cancelled> for SleepError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// A durable timer.
#[must_use = "a timer starts only when it is awaited"]
pub struct Sleep {
    handle: Handle,
    until: Until,
}

impl Sleep {
    pub(crate) fn after(handle: Handle, duration: Duration) -> Self {
        let until = Until::After(duration);
        Self { handle, until }
    }

    /// How long it is as the workflow sees it, where that is too long. It depends on nothing but the code and what that
    /// was told, so that a replay finds the same.
    fn too_long(&self) -> Option<SleepError> {
        let length = match self.until {
            Until::After(length) => length,
            Until::At(time) => time.since(self.handle.now()),
        };
        (length > MAX_SLEEP).then_some(SleepError::TooLong { length })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Future for Sleep {
    type Output = Result<(), SleepError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.handle.is_started() {
            if let Some(error) = self.too_long() {
                return match self.handle.refuse_timer() {
                    Some(()) => Poll::Ready(Err(error)),
                    None => Poll::Pending,
                };
            }
            let until = self.until;
            self.handle.start_timer(until);
        }
        self.handle.poll(context).map(|_| Ok(()))
    }
}

#[diagnostic::do_not_recommend]
impl Durable for Sleep {}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sleep").field(&self.until).finish()
    }
}
