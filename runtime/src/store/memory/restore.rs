//! Putting runs back as an export holds them.

use std::collections::{BTreeMap, BTreeSet};

use perennial::RunKey;
use perennial::history::Unit;

use super::kept::{Generation, Kept, Run, check_units};
use crate::store::StoreError;
use crate::store::blocked::BlockedRecord;
use crate::store::contract::{Loaded, Queued};
use crate::store::inbox::{KeyKind, KeyRecord};
use crate::store::offers::Offer;
use crate::store::restore::{self, Restoring};
use crate::store::rules;
use crate::store::tasks::{AttemptRecord, DueTimer, Task};
use crate::store::view::ViewRecord;

/// What was put back so far of a run that is not there yet.
#[derive(Default)]
pub(super) struct Restored {
    so_far: Restoring,
    generations: BTreeMap<u64, Generation>,
    keys: BTreeMap<(KeyKind, String), KeyRecord>,
    offers: BTreeMap<u64, Offer>,
}

impl Kept {
    pub(super) fn restore_history(
        &mut self,
        key: RunKey,
        generation: u64,
        units: Vec<Unit>,
        attempts: Vec<AttemptRecord>,
        end: Option<u64>,
    ) -> Result<(), StoreError> {
        let exists = self.runs.contains_key(&key);
        let so_far = self.restoring.get(&key).map(|restored| &restored.so_far);
        let now = restore::history(&key, exists, so_far, generation, &units, end)?;
        check_units(&units)?;
        rules::check_attempts(&attempts)?;
        let restored = self.restoring.entry(key).or_default();
        let kept = restored.generations.entry(generation).or_default();
        kept.sequence = now.sequence;
        restored.so_far = now;
        kept.units.extend(units);
        kept.attempts.extend(attempts);
        Ok(())
    }

    pub(super) fn restore_keys(
        &mut self,
        key: RunKey,
        keys: Vec<KeyRecord>,
    ) -> Result<(), StoreError> {
        let exists = self.runs.contains_key(&key);
        let so_far = self.restoring.get(&key).map(|restored| &restored.so_far);
        let now = restore::keys(&key, exists, so_far, &keys)?;
        let there = self.restoring.get(&key).map(|restored| &restored.keys);
        let mut seen = BTreeSet::new();
        let place = |record: &KeyRecord| (record.kind(), record.key.clone());
        let is_twice = |record: &KeyRecord| {
            there.is_some_and(|there| there.contains_key(&place(record)))
                || !seen.insert(place(record))
        };
        if keys.iter().any(is_twice) {
            return restore::two_of_one_key(&key);
        }
        let restored = self.restoring.entry(key).or_default();
        restored.so_far = now;
        let named = keys.into_iter().map(|record| (place(&record), record));
        restored.keys.extend(named);
        Ok(())
    }

    pub(super) fn restore_offers(
        &mut self,
        key: RunKey,
        offers: Vec<Offer>,
    ) -> Result<(), StoreError> {
        let exists = self.runs.contains_key(&key);
        let so_far = self.restoring.get(&key).map(|restored| &restored.so_far);
        let now = restore::offers(&key, exists, so_far, &offers)?;
        let restored = self.restoring.entry(key).or_default();
        restored.so_far = now;
        let numbered = offers.into_iter().map(|offer| (offer.operation, offer));
        restored.offers.extend(numbered);
        Ok(())
    }

    pub(super) fn restore_run(&mut self, key: RunKey, loaded: Loaded) -> Result<(), StoreError> {
        let exists = self.runs.contains_key(&key);
        let so_far = self.restoring.get(&key).map(|restored| &restored.so_far);
        restore::finish(&key, exists, so_far, &loaded)?;
        self.owners = self.owners.max(restore::greatest_owner(&loaded));
        self.place(&key, Some(&loaded.head));
        let mut run = Run::new(loaded.head);
        if let Some(restored) = self.restoring.remove(&key) {
            for (number, generation) in &restored.generations {
                let units = generation.units.iter();
                units.for_each(|unit| run.note_items(*number, unit));
            }
            run.generations = restored.generations;
            let keys = restored.keys.into_values();
            keys.for_each(|key| run.know_key(key));
            run.offers = restored.offers;
        }
        let number = |task: Task| (task.operation, task);
        run.tasks = loaded.tasks.into_iter().map(number).collect();
        run.timers = loaded.timers.into_iter().collect();
        let due = run.timers.iter().map(|(&operation, &deadline)| DueTimer {
            deadline,
            run: key.clone(),
            operation,
        });
        self.due.extend(due);
        let number = |row: Queued| (row.arrival, row);
        run.queue = loaded.queue.into_iter().map(number).collect();
        let artifact = |record: BlockedRecord| (record.artifact.clone(), record);
        run.blocked = loaded.blocked.into_iter().map(artifact).collect();
        let name = |record: ViewRecord| (record.name.clone(), record);
        run.views = loaded.views.into_iter().map(name).collect();
        self.runs.insert(key, run);
        Ok(())
    }
}
