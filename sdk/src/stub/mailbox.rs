//! A mailbox: one offer of a stub after the other, so that there always is exactly one.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::{Stub, StubError, StubFn, StubFuture};
use crate::machine::{Core, Handle, TaskId, wait};
use crate::value::{EncodeError, Value};
use crate::{Cx, Data, Durable, OperationId};

/// Takes what somebody outside puts into a run while that is at work.
///
/// There is exactly one open offer of its stub at all times: when that is fulfilled the next one is opened in the
/// same unit, so that whoever looks always finds one. What comes is kept in its order until [`next`](Self::next) takes
/// it, whatever the workflow is at meanwhile; nothing that is in flight is stopped by it. Dropping the mailbox, and
/// every [`NextMail`] of it, closes the offer, and that is recorded (S12).
///
/// ```
/// # use perennial::prelude::*;
/// # #[activity(idempotent)]
/// # async fn step(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> { Ok(n) }
/// /// Something for an agent to think of.
/// #[stub]
/// async fn inject(cx: &Cx) -> String;
///
/// #[workflow]
/// async fn agent(cx: &Cx) -> Result<Vec<String>, Error> {
///     let mailbox = Mailbox::open(cx, inject);
///     let mut heard = Vec::new();
///     let mut work = cx.spawn(step(cx, 1));
///     loop {
///         select! {
///             mail = mailbox.next() => heard.push(mail?),
///             done = &mut work => {
///                 done?;
///                 return Ok(heard);
///             }
///         }
///     }
/// }
/// # fn main() {}
/// ```
pub struct Mailbox<T> {
    inner: Rc<Inner<T>>,
}

/// Gone with the mailbox and the last of those that wait for it.
struct Inner<T> {
    core: Rc<Core>,
    /// What offers the stub again and again.
    task: Cell<Option<TaskId>>,
    shared: Rc<RefCell<Shared<T>>>,
}

struct Shared<T> {
    mail: VecDeque<Result<T, StubError>>,
    /// The operation of the offer that is open.
    offered: Option<u64>,
    /// Of those that wait, by their places.
    wakers: BTreeMap<u64, Waker>,
    next_place: u64,
}

impl<T: Data> Mailbox<T> {
    /// Opens a mailbox whose offers are of `stub`, which has no inputs.
    #[track_caller]
    #[must_use = "dropping a mailbox closes it"]
    pub fn open<F, M>(cx: &Cx, stub: F) -> Self
    where
        F: StubFn<M>,
        F::S: Stub<Input = (), Output = T>,
    {
        Self::open_with(cx, stub, ())
    }

    /// Opens a mailbox whose offers are of `stub`, each with that input.
    #[track_caller]
    #[must_use = "dropping a mailbox closes it"]
    pub fn open_with<F, M>(cx: &Cx, stub: F, input: <F::S as Stub>::Input) -> Self
    where
        F: StubFn<M>,
        F::S: Stub<Output = T>,
    {
        let _ = stub;
        Self::begin(cx, F::S::NAME, input.to_value(), Location::caller())
    }

    fn begin(
        cx: &Cx,
        name: &'static str,
        input: Result<Value, EncodeError>,
        place: &'static Location<'static>,
    ) -> Self {
        let core = cx.core();
        let shared = Rc::new(RefCell::new(Shared {
            mail: VecDeque::new(),
            offered: None,
            wakers: BTreeMap::new(),
            next_place: 0,
        }));
        let inner = Rc::new(Inner {
            core: Rc::clone(&core),
            task: Cell::new(None),
            shared: Rc::clone(&shared),
        });
        let handle = Handle::new(cx);
        let task = core.spawn(Box::pin(async move {
            loop {
                let input = match &input {
                    Ok(input) => Ok(input.clone()),
                    Err(error) => Err(error.clone()),
                };
                let mut offer = StubFuture::new(handle.another(), name, input);
                let mail = match offer.start(Some(place)) {
                    Ok(()) => {
                        shared.borrow_mut().offered = Some(offer.reference().number);
                        offer.await
                    }
                    Err(error) => Err(error),
                };
                // After these there is no other offer.
                let is_last =
                    matches!(mail, Err(StubError::Cancelled | StubError::TooLarge { .. }));
                let wakers = {
                    let shared = &mut *shared.borrow_mut();
                    shared.mail.push_back(mail);
                    std::mem::take(&mut shared.wakers)
                };
                wakers.into_values().for_each(Waker::wake);
                if is_last {
                    return;
                }
            }
        }));
        inner.task.set(Some(task));
        Self { inner }
    }
}

impl<T> Mailbox<T> {
    /// Waits for what comes next, or takes it where it is there. What is dropped before it has its result, as by a
    /// lost [`select!`](crate::select!), has taken nothing (B8). Several that wait are served in the order in which
    /// they are polled.
    ///
    /// It borrows nothing, so that it can be submitted to a [`JoinSet`](crate::JoinSet).
    ///
    /// # Errors
    ///
    /// [`StubError`]: what came is not of the type, and the next offer is open all the same; or the run is cancelled.
    pub fn next(&self) -> NextMail<T> {
        let place = {
            let shared = &mut *self.inner.shared.borrow_mut();
            shared.next_place += 1;
            shared.next_place
        };
        NextMail {
            inner: Rc::clone(&self.inner),
            place,
        }
    }

    /// What has come and was not taken, without waiting: `None` where there is nothing.
    pub fn try_next(&self) -> Option<Result<T, StubError>> {
        self.inner.shared.borrow_mut().mail.pop_front()
    }

    /// How many have come and were not taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.shared.borrow().mail.len()
    }

    /// Whether nothing has come that was not taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offer that is open, as whoever fulfils it has to name it: `<run>~<number>`. It is another one after each
    /// that was fulfilled.
    #[must_use]
    pub fn reference(&self) -> OperationId {
        let offered = self.inner.shared.borrow().offered;
        self.inner.core.reference(offered)
    }
}

impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            self.core.remove_task(task);
        }
    }
}

impl<T> fmt::Debug for Mailbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox")
            .field("reference", &self.reference())
            .field("len", &self.len())
            .finish()
    }
}

/// Waits for what comes into a [`Mailbox`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct NextMail<T> {
    inner: Rc<Inner<T>>,
    /// It is unlike those of all others that wait.
    place: u64,
}

impl<T> Future for NextMail<T> {
    type Output = Result<T, StubError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = &self.inner.shared;
        let mail = shared.borrow_mut().mail.pop_front();
        match mail {
            Some(mail) => Poll::Ready(mail),
            None => {
                wait();
                let new = context.waker().clone();
                let old = shared.borrow_mut().wakers.insert(self.place, new);
                drop(old);
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for NextMail<T> {
    fn drop(&mut self) {
        let waker = self.inner.shared.borrow_mut().wakers.remove(&self.place);
        drop(waker);
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for NextMail<T> {}

impl<T> fmt::Debug for NextMail<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NextMail")
    }
}
