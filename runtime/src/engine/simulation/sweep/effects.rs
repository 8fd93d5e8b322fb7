//! What activities do to the world, which outlives all processes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Effects(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// By idempotency key.
    made: BTreeMap<String, String>,
    /// Of these operations the runs have the results.
    settled: BTreeSet<String>,
    /// What was executed of them nevertheless, or came otherwise than before.
    wrong: Vec<String>,
}

impl Effects {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An execution of an operation. Says whether it is the first one.
    pub(super) fn make(&self, key: String, what: &str) -> bool {
        let mut state = self.state();
        if state.settled.contains(&key) {
            let wrong = format!("{key} is executed, and its result was recorded before");
            state.wrong.push(wrong);
        }
        let before = state.made.insert(key.clone(), what.to_owned());
        if before.as_ref().is_some_and(|before| before != what) {
            let wrong = format!("{key} was {before:?}, and then {what}");
            state.wrong.push(wrong);
        }
        before.is_none()
    }

    /// The result of that operation is recorded.
    pub(super) fn settle(&self, key: String) {
        self.state().settled.insert(key);
    }

    /// What there is in the end: one line for each effect.
    pub(super) fn lines(&self) -> Result<Vec<String>, String> {
        let state = self.state();
        if let Some(wrong) = state.wrong.first() {
            return Err(wrong.clone());
        }
        let made = state.made.iter();
        Ok(made
            .map(|(key, what)| format!("{key} did {what}"))
            .collect())
    }
}
