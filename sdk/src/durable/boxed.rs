//! One type for different futures.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Durable;

/// A durable future in a box: for recursion, and for different futures in one variable or collection.
#[must_use = "futures do nothing unless they are awaited"]
pub struct BoxDurable<'a, T>(Pin<Box<dyn Future<Output = T> + 'a>>);

impl<'a, T> BoxDurable<'a, T> {
    /// Boxes `future`.
    pub fn new<F: Durable<Output = T>>(future: F) -> Self
    where
        F::IntoFuture: 'a,
    {
        Self(Box::pin(future.into_future()))
    }
}

impl<T> Future for BoxDurable<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.0.as_mut().poll(context)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for BoxDurable<'_, T> {}

impl<T> fmt::Debug for BoxDurable<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxDurable")
    }
}
