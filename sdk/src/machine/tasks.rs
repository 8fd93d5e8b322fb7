//! What a workflow spawned: `cx.spawn` and the members of `JoinSet`s, in the order in which they began.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::core::Core;
use super::flag::Board;
use super::waits::{check, waits};

/// Tasks are numbered in the order in which they began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TaskId(u64);

type TaskFuture = Pin<Box<dyn Future<Output = ()>>>;

struct Slot {
    /// Out while it is polled.
    future: Option<TaskFuture>,
    waker: Waker,
}

pub(super) struct Tasks {
    slots: BTreeMap<TaskId, Slot>,
    next: u64,
    board: Arc<Board>,
}

impl Tasks {
    pub(super) fn new() -> Self {
        Self {
            slots: BTreeMap::new(),
            next: 0,
            board: Board::new(),
        }
    }
}

impl Core {
    /// Begins a task: it is polled at once, and from then on whenever something changes that it waits for.
    pub(crate) fn spawn(&self, future: TaskFuture) -> TaskId {
        let mut tasks = self.tasks.borrow_mut();
        let id = TaskId(tasks.next);
        tasks.next += 1;
        let waker = tasks.board.member(id.0);
        tasks.slots.insert(
            id,
            Slot {
                future: Some(future),
                waker,
            },
        );
        drop(tasks);
        self.poll_task(id);
        id
    }

    /// Drops a task and all that it waits for.
    pub(crate) fn remove_task(&self, id: TaskId) {
        let slot = self.tasks.borrow_mut().slots.remove(&id);
        drop(slot);
    }

    /// Drops all tasks in the order in which they began.
    pub(super) fn drop_tasks(&self) {
        loop {
            let first = self.tasks.borrow_mut().slots.pop_first();
            if first.is_none() {
                return;
            }
        }
    }

    /// Polls the tasks that changed, in the order in which they began; says whether there were any.
    pub(super) fn poll_tasks(&self) -> bool {
        let mut polled = false;
        loop {
            let first = self.tasks.borrow().board.take_first();
            let Some(id) = first else { return polled };
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
        let before = waits();
        if future.as_mut().poll(&mut Context::from_waker(&waker)) == Poll::Pending {
            check(before);
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
