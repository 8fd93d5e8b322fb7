//! The writer's memory of run records, so that the guards of a write cost no look into sled. What is in it
//! is what has been applied or is about to be; when that fails, the store closes and the memory with it.

use std::collections::HashMap;

use perennial::RunKey;

use super::run::RunRecord;

/// How many records one of the two halves holds; a record takes up to some 3 KB.
const HALF: usize = 4_096;

/// Two halves: when the young one is full it becomes the old one, and the old one is forgotten. A record
/// that is used moves to the young one.
#[derive(Debug, Default)]
pub(super) struct Cache {
    young: HashMap<RunKey, RunRecord>,
    old: HashMap<RunKey, RunRecord>,
}

impl Cache {
    pub(super) fn get(&mut self, run: &RunKey) -> Option<&RunRecord> {
        if let Some((run, record)) = self.old.remove_entry(run) {
            self.put(run, record);
        }
        self.young.get(run)
    }

    pub(super) fn forget(&mut self, run: &RunKey) {
        self.young.remove(run);
        self.old.remove(run);
    }

    pub(super) fn put(&mut self, run: RunKey, record: RunRecord) {
        if self.young.len() >= HALF && !self.young.contains_key(&run) {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&run);
        self.young.insert(run, record);
    }
}
