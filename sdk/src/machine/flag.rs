//! Which parts of the tree changed. Wakers only raise flags: they say who is polled again, never in which
//! order (S8).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// Raised when something that the workflow's function waits for has changed since its last poll.
pub(crate) struct Flag(AtomicBool);

impl Flag {
    /// A flag that is not raised.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicBool::new(false)))
    }

    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Lowers the flag and says whether it was raised.
    pub(crate) fn lower(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.raise();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.raise();
    }
}

/// The flags of a group's members, by their place in the group. Whoever polls the group asks for the raised
/// ones only, so that a group of n costs n in all and not n for each change.
pub(crate) struct Board(Mutex<Raised>);

#[derive(Default)]
struct Raised {
    members: BTreeSet<u64>,
    /// Who polls the group, and must be polled for it to be.
    parent: Option<Waker>,
}

impl Board {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::default()))
    }

    fn lock(&self) -> MutexGuard<'_, Raised> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The waker of the member at `place`.
    pub(crate) fn member(self: &Arc<Self>, place: u64) -> Waker {
        Waker::from(Arc::new(Member {
            board: Arc::clone(self),
            place,
        }))
    }

    /// Lowers the first flag that is raised.
    pub(crate) fn take_first(&self) -> Option<u64> {
        self.lock().members.pop_first()
    }

    pub(crate) fn lower(&self, place: u64) {
        self.lock().members.remove(&place);
    }

    pub(crate) fn set_parent(&self, waker: &Waker) {
        let known = matches!(&self.lock().parent, Some(known) if known.will_wake(waker));
        if !known {
            let new = waker.clone();
            let old = self.lock().parent.replace(new);
            // Not while the lock is held: it may be a waker of the user's.
            drop(old);
        }
    }
}

struct Member {
    board: Arc<Board>,
    place: u64,
}

impl Wake for Member {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let parent = {
            let mut raised = self.board.lock();
            raised.members.insert(self.place);
            raised.parent.clone()
        };
        if let Some(parent) = parent {
            parent.wake();
        }
    }
}
