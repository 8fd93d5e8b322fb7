//! Time, as the history tells it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::Cx;
use crate::machine::{Handle, Until};
use crate::{Cancelled, Durable, Timestamp};

impl Cx {
    /// The time: the stamp of what the workflow was told last. It never goes back, and a replay sees the
    /// same (S6). Between two awaits it stands still.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.core().now()
    }

    /// Waits for `duration`, over crashes and restarts. It is counted from the commit that records it; the
    /// recorded deadline holds even if the code is changed to another length (S7). Never early.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the run is cancelled meanwhile.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        Sleep::after(Handle::new(self), duration)
    }

    /// Waits until `time`; not at all if it has passed.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] when the run is cancelled meanwhile.
    pub fn sleep_until(&self, time: Timestamp) -> Sleep {
        Sleep {
            handle: Handle::new(self),
            until: Until::At(time),
        }
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
}

impl Future for Sleep {
    type Output = Result<(), Cancelled>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.handle.is_started() {
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
