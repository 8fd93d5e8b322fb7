//! What a workflow may wait for.

mod boxed;
mod group;
mod join;
mod join_set;
mod select;
mod start;
mod task;

use std::fmt;
use std::future::Future;
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

pub use boxed::BoxDurable;
pub use join::{join, join_all, try_join};
pub use join_set::{JoinSet, MemberId, Next, NextWithId, Take};
pub use select::{Either, race};
pub use start::{Elsewhere, Start};
pub use task::Task;

use crate::machine::{SITE, judged, pass, pending};
use crate::workflow::Site;

/// Something that a workflow may wait for, since its history records how it ends.
///
/// Activities, timers, [`Task`]s, [`JoinSet`]s, `#[durable]` functions, `async` blocks inside workflows, and
/// what [`join!`](crate::join), [`try_join!`](crate::try_join), [`select!`](crate::select) and [`join_all`]
/// make of them.
#[diagnostic::on_unimplemented(
    message = "[D118] `{Self}` is not durable, so a workflow cannot wait for it",
    label = "a workflow cannot wait for this",
    note = "a workflow is replayed from its history, so it may only wait for things that the history records",
    note = "  for HTTP, databases, files, locks:  move the code into an `#[activity]` and await that",
    note = "  for `sleep`, `timeout`, `interval`: use `cx.sleep(duration)`",
    note = "  for `spawn` and `JoinHandle`:       use `cx.spawn(..)`, `perennial::join!(a, b)` or a `JoinSet`",
    note = "  for your own `async fn`:            put `#[durable]` on it",
    note = "  for a boxed future:                 use `BoxDurable`",
    note = "  for another workflow:               start it with the client, or make it a `#[durable]` function",
    note = "see: rules/D118 in the book"
)]
pub trait Durable: IntoFuture {}

#[diagnostic::do_not_recommend]
impl<F: Durable + Future + Unpin + ?Sized> Durable for &mut F {}
#[diagnostic::do_not_recommend]
impl<F: Durable + Future + Unpin + ?Sized> Durable for Box<F> {}
#[diagnostic::do_not_recommend]
impl<P: DerefMut<Target: Durable + Future>> Durable for Pin<P> {}

pin_project! {
    /// A future made of durable parts: what `#[durable]` functions return, and what `async` blocks in workflows
    /// become.
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct Durably<F> {
        #[pin]
        future: F,
    }
}

/// Marks a future whose every await was checked.
pub fn durably<F: Future>(future: F) -> Durably<F> {
    Durably { future }
}

impl<F: Future> Future for Durably<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(context)
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future> Durable for Durably<F> {}

impl<F> fmt::Debug for Durably<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Durably")
    }
}

pin_project! {
    /// An await and its place in the source.
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct At<F> {
        site: &'static Site,
        #[pin]
        future: F,
    }
}

/// What `.await` becomes: it type-checks only for what is durable, and knows where it stands.
pub fn await_durable<F: Durable>(site: &'static Site, future: F) -> At<F::IntoFuture> {
    At {
        site,
        future: future.into_future(),
    }
}

impl<F: Future> Future for At<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let outer = Outer(SITE.replace(Some(this.site)));
        let result = judged(|| this.future.poll(context));
        drop(outer);
        match result {
            Poll::Ready(_) => pass(this.site),
            Poll::Pending => pending(this.site),
        }
        result
    }
}

/// Puts the outer await back, also when the inner one panics.
struct Outer(Option<&'static Site>);

impl Drop for Outer {
    fn drop(&mut self) {
        SITE.set(self.0);
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future> Durable for At<F> {}

impl<F> fmt::Debug for At<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("At").field(&self.site.id).finish()
    }
}
