//! Waiting for what the workflow itself knows.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::Cx;
use crate::Durable;
use crate::machine::Core;

impl Cx {
    /// Waits until `condition` holds, over what the workflow shares with the [handlers](Self::handle) of its updates or
    /// with its own other lines. It is looked at at once, whenever the run is told something, and when another line of
    /// the workflow has gone on; nothing of it is recorded, since a replay finds the same.
    ///
    /// `condition` only looks, and waits for nothing. A time limit is another arm:
    ///
    /// ```
    /// # use std::cell::Cell;
    /// # use perennial::prelude::*;
    /// # #[workflow]
    /// # async fn wait(cx: &Cx) -> Result<bool, Error> {
    /// # let done = Cell::new(true);
    /// select! {
    ///     () = cx.until(|| done.get()) => Ok(true),
    ///     _ = cx.sleep(days(1)) => Ok(false),
    /// }
    /// # }
    /// # fn main() {}
    /// ```
    pub fn until<F: Fn() -> bool>(&self, condition: F) -> Until<F> {
        Until {
            core: self.core(),
            number: None,
            condition,
            is_over: false,
        }
    }
}

/// A wait for a condition: [`Cx::until`].
#[must_use = "a wait begins only when it is awaited"]
pub struct Until<F> {
    core: Rc<Core>,
    /// Once it is open.
    number: Option<u64>,
    condition: F,
    is_over: bool,
}

/// The condition is only called, wherever it is.
impl<F> Unpin for Until<F> {}

impl<F: Fn() -> bool> Future for Until<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        assert!(
            !this.is_over,
            "a condition was awaited again after it had come to hold"
        );
        let condition = || (this.condition)();
        let result = this
            .core
            .poll_until(&mut this.number, context.waker(), condition);
        this.is_over = result.is_ready();
        result
    }
}

impl<F> Drop for Until<F> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.core.forget_until(number);
        }
    }
}

#[diagnostic::do_not_recommend]
impl<F: Fn() -> bool> Durable for Until<F> {}

impl<F> fmt::Debug for Until<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Until")
    }
}
