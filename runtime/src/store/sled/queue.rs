//! The writes that wait, and who writes them: a thread of the store, or whoever has just handed over a
//! batch and would only wait for it. The second saves two hand-overs between threads where one run is in
//! flight; where many are, the thread takes over, and those who hand over go on.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

use super::writer::{MAX_WRITES, Write, Writer};

thread_local! {
    static WRITES: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is writing: acks are called by it.
pub(super) fn is_writing() -> bool {
    WRITES.get()
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    writes: VecDeque<Write>,
    /// No more will come.
    ended: bool,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a write to the store's thread.
    pub(super) fn push(&self, write: Write) {
        self.waiting().writes.push_back(write);
        self.came.notify_one();
    }

    /// Puts writes in line; whoever writes next takes them.
    pub(super) fn put(&self, writes: impl Iterator<Item = Write>) {
        self.waiting().writes.extend(writes);
    }

    /// The next write.
    pub(super) fn take(&self) -> Option<Write> {
        self.waiting().writes.pop_front()
    }

    /// Puts the write that was taken last back to its place.
    pub(super) fn put_back(&self, write: Write) {
        self.waiting().writes.push_front(write);
    }

    /// No more will come: the store's thread writes what is left and ends.
    pub(super) fn end(&self) {
        self.waiting().ended = true;
        self.came.notify_one();
    }

    /// Waits for a write; `false`: none will come.
    fn wait(&self) -> bool {
        let mut waiting = self.waiting();
        while waiting.writes.is_empty() && !waiting.ended {
            waiting = self
                .came
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        !waiting.writes.is_empty()
    }
}

/// The writer, and what waits for it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) queue: Queue,
    writer: Mutex<Writer>,
}

impl Line {
    pub(super) fn new(writer: Writer) -> Self {
        Self {
            queue: Queue::default(),
            writer: Mutex::new(writer),
        }
    }

    /// The store's thread.
    pub(super) fn run(&self) {
        while self.queue.wait() {
            // A subscriber to logs may panic. What waits is answered all the same.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let mut writer = self.writer();
                if writer.closed.is_none() {
                    writer.shared.progress.wait_for_applier();
                }
                self.drain(&mut writer, MAX_WRITES);
                writer.mark();
            }));
        }
        if let Err(error) = self.writer().close() {
            tracing::error!(%error, "the store could not be closed");
        }
    }

    /// There is no thread to write: lets go of the files.
    pub(super) fn give_up(&self) {
        let _ = self.writer().close();
    }

    /// Writes what waits, once, if nobody else does. What comes meanwhile is for the store's thread, and so is
    /// waiting for sled.
    pub(super) fn lead(&self, most: usize) {
        if let Some(mut writer) = self.try_writer()
            && !writer.shared.progress.is_too_much()
        {
            self.drain(&mut writer, most);
        }
        // Whoever wrote meanwhile looks again, too, when they have let go.
        if !self.queue.waiting().writes.is_empty() {
            self.queue.came.notify_one();
        }
    }

    /// Does what nobody waits for, unless somebody is writing, who then does it.
    pub(super) fn tidy(&self) {
        if let Some(mut writer) = self.try_writer() {
            writer.mark();
        }
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer
            .lock()
            .unwrap_or_else(|writer| broken(writer.into_inner()))
    }

    fn try_writer(&self) -> Option<MutexGuard<'_, Writer>> {
        match self.writer.try_lock() {
            Ok(writer) => Some(writer),
            Err(TryLockError::Poisoned(writer)) => Some(broken(writer.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn drain(&self, writer: &mut Writer, most: usize) {
        let _writing = Writing(WRITES.replace(true));
        writer.drain(&self.queue, most);
    }
}

/// Somebody panicked while writing: what the writer remembers may not be what is durable.
fn broken(mut writer: MutexGuard<'_, Writer>) -> MutexGuard<'_, Writer> {
    writer.stop("one of its threads panicked");
    writer
}

/// This thread is writing; before that it was, or was not.
struct Writing(bool);

impl Drop for Writing {
    fn drop(&mut self) {
        WRITES.set(self.0);
    }
}
