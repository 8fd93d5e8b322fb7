//! What a workflow spawned: `cx.spawn` and the members of `JoinSet`s, in the order in which they began.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use super::core::Core;
use super::flag::Board;
use super::trail;
use super::waits::{apart, judged, may_poll};
use crate::history::{Close, Decision};
use crate::incompatible::{IncompatibleKind, Side};

/// Tasks are numbered in the order in which they began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TaskId(u64);

type TaskFuture = Pin<Box<dyn Future<Output = ()>>>;

struct Slot {
    /// Out while it is polled.
    future: Option<TaskFuture>,
    waker: Waker,
    /// How many bytes the future has.
    size: usize,
}

pub(super) struct Tasks {
    slots: BTreeMap<TaskId, Slot>,
    next: u64,
    /// How many tasks are being begun, one inside the other.
    depth: usize,
    board: Arc<Board>,
    /// How many bytes the futures have.
    bytes: usize,
}

impl Tasks {
    pub(super) fn new() -> Self {
        Self {
            slots: BTreeMap::new(),
            next: 0,
            depth: 0,
            board: Board::new(),
            bytes: 0,
        }
    }

    fn insert(&mut self, id: TaskId, future: TaskFuture) {
        let slot = Slot {
            size: size_of_val(&*future),
            future: Some(future),
            waker: self.board.member(id.0),
        };
        self.bytes += slot.size;
        self.slots.insert(id, slot);
    }

    /// What is taken out is dropped while nothing is borrowed: it may run code of the user.
    fn remove(&mut self, id: TaskId) -> Option<Slot> {
        let slot = self.slots.remove(&id)?;
        self.bytes -= slot.size;
        Some(slot)
    }

    fn remove_first(&mut self) -> Option<Slot> {
        let (_, slot) = self.slots.pop_first()?;
        self.bytes -= slot.size;
        Some(slot)
    }

    /// About how many bytes are held here.
    pub(super) fn memory(&self) -> usize {
        self.bytes + self.slots.len() * size_of::<(TaskId, Slot)>() * 2
    }
}

impl Core {
    /// Begins a task: it is polled at once, and from then on whenever something changes that it waits for.
    pub(crate) fn spawn(&self, future: TaskFuture) -> TaskId {
        let (id, depth) = {
            let tasks = &mut *self.tasks.borrow_mut();
            tasks.next += 1;
            (TaskId(tasks.next), tasks.depth)
        };
        if !self.may_spawn(depth) {
            // Dropped without having been polled.
            return id;
        }
        {
            let tasks = &mut *self.tasks.borrow_mut();
            tasks.depth += 1;
            tasks.insert(id, future);
        }
        apart(|| self.poll_task(id));
        self.tasks.borrow_mut().depth -= 1;
        id
    }

    /// Drops a task and all that it waits for.
    pub(crate) fn remove_task(&self, id: TaskId) {
        let slot = self.tasks.borrow_mut().remove(id);
        drop(slot);
    }

    /// A named set of work is let go of while the members `open` of it were not taken.
    pub(crate) fn close_set(&self, name: &'static str, close: Close, open: Vec<u64>) -> Option<()> {
        let state = &mut *self.deciding()?;
        let asked = Side::set_closed(name, close, open.len());
        if state.may_decide().is_none() {
            state.note(asked);
            return None;
        }
        match state.next_expected() {
            None => state.push(Decision::SetClosed {
                name: name.into(),
                close,
                open,
            }),
            Some(Some(Decision::SetClosed {
                name: n,
                close: c,
                open: o,
            })) if n == name && c == close && o == open => {}
            Some(recorded) => {
                return state.refuse(IncompatibleKind::Changed, recorded.as_ref(), asked);
            }
        }
        state.commands += 1;
        Some(())
    }

    /// Drops all tasks in the order in which they began.
    pub(super) fn drop_tasks(&self) {
        loop {
            let first = self.tasks.borrow_mut().remove_first();
            if first.is_none() {
                return;
            }
        }
    }

    /// Drops all tasks, also those that come after one whose drop panics.
    pub(super) fn discard_tasks(&self) {
        while catch_unwind(AssertUnwindSafe(|| self.drop_tasks())).is_err() {}
    }

    /// Polls the tasks that changed, in the order in which they began; says whether there were any.
    pub(super) fn poll_tasks(&self) -> bool {
        let mut polled = false;
        loop {
            let first = self.tasks.borrow().board.take_first();
            let Some(id) = first else { return polled };
            if !may_poll() {
                return polled;
            }
            polled = true;
            self.poll_task(TaskId(id));
        }
    }

    fn poll_task(&self, id: TaskId) {
        let (mut future, waker) = {
            let mut tasks = self.tasks.borrow_mut();
            tasks.board.lower(id.0);
            let Some(slot) = tasks.slots.get_mut(&id) else {
                return;
            };
            let Some(future) = slot.future.take() else {
                return;
            };
            (future, slot.waker.clone())
        };
        let poll = || future.as_mut().poll(&mut Context::from_waker(&waker));
        if trail::task(|| judged(poll)).is_pending() {
            let mut tasks = self.tasks.borrow_mut();
            if let Some(slot) = tasks.slots.get_mut(&id) {
                slot.future = Some(future);
                return;
            }
        }
        // It came to its end, or was removed while it was polled.
        drop(future);
        self.remove_task(id);
    }
}
