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
use crate::history::Close;
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
///
/// A set of work of several kinds has an enum of them, and each member is taken as what it is:
///
/// ```
/// # use perennial::prelude::*;
/// # #[activity(idempotent)]
/// # async fn think(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> { Ok(n) }
/// # #[stub]
/// # async fn inject(cx: &Cx) -> u64;
/// enum Event {
///     Thought(Result<u64, ActivityError>),
///     Mail(Result<u64, StubError>),
/// }
///
/// #[workflow]
/// async fn agent(cx: &Cx) -> Result<u64, Error> {
///     let mailbox = Mailbox::open(cx, inject);
///     let mut set = JoinSet::named(cx, "turn");
///     let work = set.submit(async move { Event::Thought(think(cx, 1).await) });
///     let next = mailbox.next();
///     set.submit(async move { Event::Mail(next.await) });
///     let mut sum = 0;
///     while let Some((id, event)) = set.next_with_id().await {
///         sum += match event {
///             Event::Thought(thought) => thought?,
///             Event::Mail(mail) => mail?,
///         };
///         if id == work {
///             break; // what waits for mail is dropped with the set, and that is recorded
///         }
///     }
///     Ok(sum)
/// }
/// # fn main() {}
/// ```
pub struct JoinSet<T> {
    cx: Cx,
    /// The name, where it has one.
    name: Option<&'static str>,
    close: Close,
    /// In the order of submission.
    open: BTreeSet<MemberId>,
    /// How many members there have been.
    submitted: u64,
    last: Option<MemberId>,
    shared: Rc<RefCell<Shared<T>>>,
}

struct Shared<T> {
    ready: VecDeque<(MemberSlot, T)>,
    waker: Option<Waker>,
}

/// Which member a result is of. A member that is ready at once has its result before it has its id.
type MemberSlot = Rc<std::cell::Cell<Option<MemberId>>>;

/// A member of a [`JoinSet`]. It is unlike those of all other sets of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberId {
    task: TaskId,
    number: u64,
}

impl MemberId {
    /// Its number in the set, counted from 1 in the order of submission.
    #[must_use]
    pub fn number(self) -> u64 {
        self.number
    }
}

impl fmt::Debug for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.number)
    }
}

impl<T: 'static> JoinSet<T> {
    /// An empty set.
    #[must_use]
    pub fn new(cx: &Cx) -> Self {
        Self::with(cx, None)
    }

    /// An empty set with a name. Where it is dropped while it has members that were not taken, that is recorded under
    /// its name, with them and with what becomes of them ([`on_close`](Self::on_close)); a replay compares it.
    #[must_use]
    pub fn named(cx: &Cx, name: &'static str) -> Self {
        Self::with(cx, Some(name))
    }

    fn with(cx: &Cx, name: Option<&'static str>) -> Self {
        let shared = Shared {
            ready: VecDeque::new(),
            waker: None,
        };
        Self {
            cx: cx.clone(),
            name,
            close: Close::default(),
            open: BTreeSet::new(),
            submitted: 0,
            last: None,
            shared: Rc::new(RefCell::new(shared)),
        }
    }

    /// What becomes of members that were not taken when the set is dropped, in place of [`Close::Drop`]. At the end of
    /// the run all that is open is dropped, whatever was said here (S12).
    #[must_use]
    pub fn on_close(mut self, close: Close) -> Self {
        self.close = close;
        self
    }

    /// Begins `work` as a member.
    pub fn submit<F>(&mut self, work: F) -> MemberId
    where
        F: Durable<Output = T>,
        F::IntoFuture: 'static,
    {
        let work = work.into_future();
        let slot = MemberSlot::default();
        let (shared, own) = (Rc::clone(&self.shared), Rc::clone(&slot));
        let task = self.cx.core().spawn(Box::pin(async move {
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
        self.submitted += 1;
        let id = MemberId {
            task,
            number: self.submitted,
        };
        slot.set(Some(id));
        self.open.insert(id);
        id
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

    /// As [`next`](Self::next), with the member that it is.
    pub fn next_with_id(&mut self) -> NextWithId<'_, T> {
        NextWithId(self)
    }

    /// Waits for that member alone: the others stay, ready or not. `None` where it was taken before, or is one of
    /// another set.
    pub fn take(&mut self, member: MemberId) -> Take<'_, T> {
        Take { set: self, member }
    }

    /// The next member that is ready now, without waiting: `None` where none is. What is ready follows from what the
    /// run was told, so it is the same in each replay.
    pub fn try_next(&mut self) -> Option<T> {
        self.first_ready().map(|(_, output)| output)
    }

    /// The member that was taken last.
    #[must_use]
    pub fn last_id(&self) -> Option<MemberId> {
        self.last
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

impl<T> JoinSet<T> {
    fn first_ready(&mut self) -> Option<(MemberId, T)> {
        let ready = self.shared.borrow_mut().ready.pop_front();
        ready.and_then(|ready| self.taken(ready))
    }

    fn taken(&mut self, (slot, output): (MemberSlot, T)) -> Option<(MemberId, T)> {
        let id = slot.get()?;
        self.open.remove(&id);
        self.last = Some(id);
        Some((id, output))
    }

    fn poll_next(&mut self, context: &Context<'_>) -> Poll<Option<(MemberId, T)>> {
        if self.open.is_empty() {
            return Poll::Ready(None);
        }
        match self.first_ready() {
            Some(taken) => Poll::Ready(Some(taken)),
            None => {
                self.wait(context);
                Poll::Pending
            }
        }
    }

    fn wait(&self, context: &Context<'_>) {
        wait();
        let new = context.waker().clone();
        let old = self.shared.borrow_mut().waker.replace(new);
        drop(old);
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        if let (Some(name), false) = (self.name, self.open.is_empty()) {
            let open = self.open.iter().map(|member| member.number).collect();
            self.cx.core().close_set(name, self.close, open);
        }
        if self.close == Close::Detach {
            return;
        }
        while let Some(member) = self.open.pop_first() {
            self.cx.core().remove_task(member.task);
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet")
            .field("name", &self.name)
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
        let taken = self.0.poll_next(context);
        taken.map(|taken| taken.map(|(_, output)| output))
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for Next<'_, T> {}

/// Waits for a member of a [`JoinSet`], and says which it is.
#[must_use = "futures do nothing unless they are awaited"]
#[derive(Debug)]
pub struct NextWithId<'a, T>(&'a mut JoinSet<T>);

impl<T> Future for NextWithId<'_, T> {
    type Output = Option<(MemberId, T)>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_next(context)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for NextWithId<'_, T> {}

/// Waits for one certain member of a [`JoinSet`].
#[must_use = "futures do nothing unless they are awaited"]
#[derive(Debug)]
pub struct Take<'a, T> {
    set: &'a mut JoinSet<T>,
    member: MemberId,
}

impl<T> Future for Take<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let member = self.member;
        let set = &mut *self.set;
        if !set.open.contains(&member) {
            return Poll::Ready(None);
        }
        let ready = {
            let ready = &mut set.shared.borrow_mut().ready;
            let place = ready
                .iter()
                .position(|(slot, _)| slot.get() == Some(member));
            place.and_then(|place| ready.remove(place))
        };
        match ready.and_then(|ready| set.taken(ready)) {
            Some((_, output)) => Poll::Ready(Some(output)),
            None => {
                set.wait(context);
                Poll::Pending
            }
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for Take<'_, T> {}
