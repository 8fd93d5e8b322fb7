//! A set of work that grows and shrinks.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::Durable;
use crate::Cx;
use crate::machine::{TaskId, wait};

/// Work side by side, taken in the order in which it becomes ready.
///
/// Members begin when they are submitted and go on whether or not [`next`](Self::next) is awaited. Dropping
/// the set drops the members that are still open, in the order of their submission, and that is recorded.
///
/// ```
/// # use perennial::prelude::*;
/// # #[activity(idempotent)]
/// # async fn copy(_acx: &ActivityCx, file: String) -> Result<u64, Failure> { Ok(file.len() as u64) }
/// #[workflow]
/// async fn copy_all(cx: &Cx, files: Vec<String>) -> Result<u64, Error> {
///     let (mut set, mut bytes) = (JoinSet::new(cx), 0);
///     for file in files {
///         if set.len() == 8
///             && let Some(copied) = set.next().await
///         {
///             bytes += copied?; // at most eight at a time
///         }
///         set.submit(copy(cx, file));
///     }
///     while let Some(copied) = set.next().await {
///         bytes += copied?;
///     }
///     Ok(bytes)
/// }
/// # fn main() {}
/// ```
pub struct JoinSet<T> {
    cx: Cx,
    /// In the order of submission.
    open: BTreeSet<TaskId>,
    shared: Rc<RefCell<Shared<T>>>,
}

struct Shared<T> {
    ready: VecDeque<(TaskSlot, T)>,
    waker: Option<Waker>,
}

/// Which member a result is of. A member that is ready at once has its result before it has its id.
type TaskSlot = Rc<std::cell::Cell<Option<TaskId>>>;

impl<T: 'static> JoinSet<T> {
    /// An empty set.
    #[must_use]
    pub fn new(cx: &Cx) -> Self {
        let shared = Shared {
            ready: VecDeque::new(),
            waker: None,
        };
        Self {
            cx: cx.clone(),
            open: BTreeSet::new(),
            shared: Rc::new(RefCell::new(shared)),
        }
    }

    /// Begins `work` as a member.
    pub fn submit<F>(&mut self, work: F)
    where
        F: Durable<Output = T>,
        F::IntoFuture: 'static,
    {
        let work = work.into_future();
        let slot = TaskSlot::default();
        let (shared, own) = (Rc::clone(&self.shared), Rc::clone(&slot));
        let id = self.cx.core().spawn(Box::pin(async move {
            let output = work.await;
            let waker = {
                let mut shared = shared.borrow_mut();
                shared.ready.push_back((own, output));
                shared.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }));
        slot.set(Some(id));
        self.open.insert(id);
    }

    /// Waits for the next member that becomes ready; `None` when there are no members. Of two that become
    /// ready with the same event, the one that was submitted first comes first.
    #[expect(
        clippy::should_implement_trait,
        reason = "it is awaited, and an iterator cannot be"
    )]
    pub fn next(&mut self) -> Next<'_, T> {
        Next(self)
    }

    /// How many members have not been taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether all members have been taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        while let Some(id) = self.open.pop_first() {
            self.cx.core().remove_task(id);
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet")
            .field("len", &self.open.len())
            .finish_non_exhaustive()
    }
}

/// Waits for a member of a [`JoinSet`].
#[must_use = "futures do nothing unless they are awaited"]
#[derive(Debug)]
pub struct Next<'a, T>(&'a mut JoinSet<T>);

impl<T> Future for Next<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let set = &mut *self.0;
        if set.open.is_empty() {
            return Poll::Ready(None);
        }
        let ready = set.shared.borrow_mut().ready.pop_front();
        match ready {
            Some((slot, output)) => {
                if let Some(id) = slot.get() {
                    set.open.remove(&id);
                }
                Poll::Ready(Some(output))
            }
            None => {
                wait();
                let new = context.waker().clone();
                let old = set.shared.borrow_mut().waker.replace(new);
                drop(old);
                Poll::Pending
            }
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for Next<'_, T> {}
