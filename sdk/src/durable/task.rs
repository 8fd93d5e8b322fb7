//! The handle of spawned work.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::Durable;
use crate::Cx;
use crate::machine::wait;

/// Work that [`Cx::spawn`] began. Waits for its result; dropping it does not stop the work.
pub struct Task<T>(Rc<RefCell<Slot<T>>>);

struct Slot<T> {
    output: Output<T>,
    waker: Option<Waker>,
}

enum Output<T> {
    Open,
    Ready(T),
    Taken,
}

impl<T: 'static> Task<T> {
    pub(crate) fn spawn<F: Future<Output = T> + 'static>(cx: &Cx, work: F) -> Self {
        let slot = Rc::new(RefCell::new(Slot {
            output: Output::Open,
            waker: None,
        }));
        let task = Self(Rc::clone(&slot));
        cx.core().spawn(Box::pin(async move {
            let output = work.await;
            let waker = {
                let mut slot = slot.borrow_mut();
                slot.output = Output::Ready(output);
                slot.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }));
        task
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    /// # Panics
    ///
    /// When it has given its result before, as futures do.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let output = {
            let slot = &mut *self.0.borrow_mut();
            match slot.output {
                Output::Open => None,
                _ => Some(std::mem::replace(&mut slot.output, Output::Taken)),
            }
        };
        match output {
            Some(Output::Ready(output)) => Poll::Ready(output),
            Some(_) => panic!("a `Task` was awaited again after it had given its result"),
            None => {
                wait();
                let new = context.waker().clone();
                let old = self.0.borrow_mut().waker.replace(new);
                drop(old);
                Poll::Pending
            }
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T> Durable for Task<T> {}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("ready", &matches!(self.0.borrow().output, Output::Ready(_)))
            .finish()
    }
}
