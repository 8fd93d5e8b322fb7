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
    /// Readers inside.
    readers: usize,
    /// The writer is inside, or waits for the readers to come out.
    wanted: bool,
    /// Counts the writer's turns.
    turn: u64,
    /// Readers that came while the writer wanted in: they wait for the end of its turn.
    waiting: usize,
    /// Those of them who have not been inside since: they come before the writer's next turn.
    admitted: usize,
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
            wanted: false,
            turn: 0,
            waiting: 0,
            admitted: 0,
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
        if state.wanted {
            let turn = state.turn;
            state.waiting += 1;
            while state.turn == turn {
                state = self.wait(state);
            }
            state.admitted -= 1;
            self.changed.notify_all();
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
        while state.admitted > 0 {
            state = self.wait(state);
        }
        state.wanted = true;
        while state.readers > 0 {
            state = self.wait(state);
        }
        drop(state);
        let result = write();
        let mut state = self.state();
        let shut = result
            .as_ref()
            .err()
            .map(|reason| std::mem::replace(&mut state.db, Err(failed(reason))));
        state.wanted = false;
        state.turn += 1;
        state.admitted = std::mem::take(&mut state.waiting);
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

/// Why a store takes nothing any more after a failed write.
pub(super) fn failed(reason: &str) -> String {
    format!("a write failed, and it closed itself: {reason}")
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn gate() -> Gate {
        Gate::new(::sled::Config::new().temporary(true).open().unwrap())
    }

    #[test]
    fn readers_never_see_what_is_being_written() {
        const ROUNDS: u64 = 300;
        let (gate, durable) = (gate(), AtomicBool::new(true));
        let look = |db: &Db| {
            assert!(durable.load(Ordering::SeqCst));
            let read = || db.get("key").unwrap().map(|value| value.to_vec());
            let before = read();
            std::thread::yield_now();
            assert_eq!(before, read());
            Ok(before == Some(ROUNDS.to_be_bytes().to_vec()))
        };
        let db = gate.read(|db| Ok(db.clone())).unwrap();
        std::thread::scope(|threads| {
            // They come again and again, and the writer gets its turn all the same; and the other way round.
            let readers: Vec<_> = (0..3)
                .map(|_| threads.spawn(|| while !gate.read(look).unwrap() {}))
                .collect();
            for round in 1..=ROUNDS {
                gate.write(|| {
                    durable.store(false, Ordering::SeqCst);
                    db.insert("key", &round.to_be_bytes()).unwrap();
                    std::thread::yield_now();
                    durable.store(true, Ordering::SeqCst);
                    Ok(())
                })
                .unwrap();
            }
            readers
                .into_iter()
                .for_each(|reader| reader.join().unwrap());
        });
    }

    #[test]
    fn after_a_failed_write_nobody_is_let_in() {
        let gate = gate();
        gate.write(|| Err("no space".into())).unwrap_err();
        let reason = "a write failed, and it closed itself: no space".to_owned();
        assert_eq!(gate.read(|_| Ok(())), Err(StoreError::Closed { reason }));
    }

    #[test]
    fn a_panic_while_reading_is_an_error_and_the_gate_still_turns() {
        let gate = gate();
        let panicked: Result<(), _> = gate.read(|_| panic!("page out of bounds"));
        assert!(
            matches!(panicked, Err(StoreError::Io { error, .. }) if error == "page out of bounds")
        );
        gate.write(|| Ok(())).unwrap();
        gate.read(|_| Ok(())).unwrap();
        gate.close("done");
        assert!(gate.read(|_| Ok(())).is_err());
    }
}
