//! Readers and the writer take turns. What sled shows before a flush is not durable yet, and nobody may see
//! it (S4): while a drain is applied and flushed, readers wait. They wait for one drain at most, since the
//! writer lets those who came meanwhile go first.

use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use ::sled::Db;

use super::problem::guarded;
use crate::store::StoreError;

pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    db: Result<Db, String>,
    readers: usize,
    waiting: usize,
    writing: bool,
    /// Readers that waited for the last drain have not been let in yet.
    readers_first: bool,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}

impl Gate {
    pub(super) fn new(db: Db) -> Self {
        let state = State {
            db: Ok(db),
            readers: 0,
            waiting: 0,
            writing: false,
            readers_first: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads; everything that `read` sees is durable.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Db) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut state = self.state();
        if state.writing {
            state.waiting += 1;
            while state.writing {
                state = self.wait(state);
            }
            state.waiting -= 1;
            if state.waiting == 0 {
                state.readers_first = false;
                self.changed.notify_all();
            }
        }
        let db = match &state.db {
            Ok(db) => db.clone(),
            Err(reason) => {
                return Err(StoreError::Closed {
                    reason: reason.clone(),
                });
            }
        };
        state.readers += 1;
        drop(state);
        // The clone is dropped before the reader is counted out: afterwards the store can be closed.
        let inside = Inside(self);
        let result = guarded(|| read(&db));
        drop(db);
        drop(inside);
        result
    }

    /// Writes, alone. When that fails, nobody is let in any more: what sled shows then was never
    /// acknowledged.
    pub(super) fn write(&self, write: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        let mut state = self.state();
        while state.readers > 0 || state.readers_first {
            state = self.wait(state);
        }
        state.writing = true;
        drop(state);
        let result = write();
        let mut state = self.state();
        let shut = result
            .as_ref()
            .err()
            .map(|reason| std::mem::replace(&mut state.db, Err(reason.clone())));
        state.writing = false;
        state.readers_first = state.waiting > 0;
        drop(state);
        self.changed.notify_all();
        drop(shut);
        result
    }

    /// Lets nobody in any more, waits until all are out, and drops this hold on sled. Readers are told
    /// `reason`.
    pub(super) fn close(&self, reason: &str) {
        let mut state = self.state();
        let db = std::mem::replace(&mut state.db, Err(reason.to_owned()));
        while state.readers > 0 {
            state = self.wait(state);
        }
        drop(state);
        drop(db);
    }
}

struct Inside<'a>(&'a Gate);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.readers -= 1;
        if state.readers == 0 {
            self.0.changed.notify_all();
        }
    }
}
