//! The memory store.

mod kept;
mod restore;

use std::fmt;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perennial::history::Unit;
use perennial::{Namespace, RunId, RunKey, Timestamp};

use super::acks::{answer, deliver};
use super::blocked::BlockedRecord;
use super::contract::{Ack, Commit, Create, Created, Deliver, Head, Loaded, Owner, Store};
use super::inbox::{Delivered, KeyKind, KeyRecord, is_known, told};
use super::list::{ListQuery, Page};
use super::migrate::Migrate;
use super::offers::{Offer, Waiting};
use super::program::ProgramRecord;
use super::purge::{FinishedRun, Progress, Purge, Remains};
use super::restore::Restore;
use super::rules::{self, Creation};
use super::slots::{self, Committed};
use super::stream::{self, StreamItem};
use super::tasks::{AttemptRecord, DueTimer};
use super::view::ViewRecord;
use super::{Refusal, StoreError};
use crate::profile::{self, Profile};
use kept::{Kept, Run, check_filled, check_records};

/// Keeps runs as long as it is not dropped: for tests, and for programs whose runs end with them.
///
/// A write is done when the call returns. Its ack is called by then, unless other threads write at the same
/// time or the call comes from within an ack: then whoever is calling acks already calls this one too, in
/// its turn.
#[derive(Default)]
pub struct MemoryStore {
    kept: Mutex<Kept>,
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("runs", &self.kept().runs.len())
            .finish_non_exhaustive()
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a unit out of a history, so that a test can show that this is noticed. Says whether it was
    /// there.
    #[doc(hidden)]
    pub fn lose_unit(&self, run: &RunKey, generation: u64, number: u64) -> bool {
        let mut kept = self.kept();
        let Some(kept) = kept
            .runs
            .get_mut(run)
            .and_then(|run| run.generations.get_mut(&generation))
        else {
            return false;
        };
        let before = kept.units.len();
        kept.units.retain(|unit| unit.number != number);
        kept.units.len() < before
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing panics half-way through a change: a poisoned lock was poisoned by a reader.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `write` and answers. Answers leave in the order in which the writes were done, one at a time,
    /// and not under the lock: an ack may call the store.
    fn write<T: Send + 'static>(
        &self,
        ack: Ack<T>,
        write: impl FnOnce(&mut Kept) -> Result<T, StoreError>,
    ) {
        let mut kept = self.kept();
        let result = if kept.closed {
            Err(closed())
        } else {
            write(&mut kept)
        };
        kept.answers.push_back(answer(ack, result));
        if std::mem::replace(&mut kept.answering, true) {
            return;
        }
        while let Some(answer) = kept.answers.pop_front() {
            drop(kept);
            deliver(answer);
            kept = self.kept();
        }
        kept.answering = false;
    }

    fn read<T>(&self, read: impl FnOnce(&Kept) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let kept = self.kept();
        if kept.closed {
            Err(closed())
        } else {
            read(&kept)
        }
    }
}

fn closed() -> StoreError {
    StoreError::Closed {
        reason: "it was asked to close".into(),
    }
}

impl Store for MemoryStore {
    fn profile(&self) -> Profile {
        Profile {
            durability: profile::Durability::Memory,
            scheduling: profile::Scheduling::Listed,
            timer: profile::Timer::Listed,
            lease: profile::Lease::OneProcess,
            replay: profile::Replay::Numbered,
            retention: profile::Retention::Purged,
            encryption: profile::Encryption::NotOffered,
            tenancy: profile::Tenancy::Namespaces,
            recovery: profile::Recovery::NotOffered,
            observation: profile::Observation::Acknowledged,
            bounds: profile::Bounds::default(),
        }
    }

    fn enroll(&self) -> Result<Owner, StoreError> {
        let mut kept = self.kept();
        if kept.closed {
            return Err(closed());
        }
        kept.owners += 1;
        Ok(Owner(kept.owners))
    }

    fn create(&self, create: Create, ack: Ack<Created>) {
        self.write(ack, |kept| {
            let mut resolved = match rules::create(kept.head(&create.run), &create)? {
                Creation::New(resolved) => resolved,
                Creation::Exists(head) => return Ok(Created::Exists(head)),
            };
            kept.change_offers(&create.run, &mut resolved, &create.changes.offers)?;
            let filled = slots::fill(&create.run, &mut resolved, &create.changes, kept)?;
            check_records(&resolved, &create.changes)?;
            check_filled(&filled)?;
            if kept.restoring.contains_key(&create.run) {
                let run = create.run.clone();
                return Err(StoreError::Refused(Refusal::Restoring { run }));
            }
            if let Some(run) = kept.runs.get_mut(&create.run) {
                run.blocked.clear();
                run.views.clear();
                if run.head.purged.is_some() {
                    // What an interrupted purge had not come to is not the next generation's.
                    run.queue.clear();
                }
                run.queue.retain(|_, row| told(&row.observation).is_none());
                run.forget_keys();
            }
            let committed = filled.answer(&resolved);
            let keys = std::mem::take(&mut resolved.keys);
            let mut head = kept.apply(&create.run, resolved, create.changes);
            if let Some(run) = kept.runs.get_mut(&create.run) {
                keys.into_iter().for_each(|key| run.know_key(key));
            }
            kept.apply_filled(&create.run, filled);
            if let Some(now) = kept.head(&create.run) {
                head = now.clone();
            }
            Ok(Created::New(head, committed))
        });
    }

    fn commit(&self, commit: Commit, ack: Ack<Committed>) {
        self.write(ack, |kept| {
            let mut resolved = rules::commit(kept.head(&commit.run), &commit)?;
            kept.change_offers(&commit.run, &mut resolved, &commit.changes.offers)?;
            let filled = slots::fill(&commit.run, &mut resolved, &commit.changes, kept)?;
            check_records(&resolved, &commit.changes)?;
            check_filled(&filled)?;
            let committed = filled.answer(&resolved);
            kept.apply(&commit.run, resolved, commit.changes);
            kept.apply_filled(&commit.run, filled);
            Ok(committed)
        });
    }

    fn deliver(&self, deliver: Deliver, ack: Ack<Delivered>) {
        self.write(ack, |kept| kept.deliver(deliver));
    }

    fn claim(&self, run: RunKey, owner: Owner, ack: Ack<Head>) {
        self.write(ack, |kept| {
            let head = rules::claim(&run, kept.head(&run), owner)?;
            if let Some(run) = kept.runs.get_mut(&run) {
                run.head = head.clone();
            }
            Ok(head)
        });
    }

    fn migrate(&self, migrate: Migrate, ack: Ack<Created>) {
        self.write(ack, |kept| kept.migrate(migrate));
    }

    fn purge(&self, purge: Purge, ack: Ack<Progress>) {
        self.write(ack, |kept| kept.purge(&purge));
    }

    fn restore(&self, restore: Restore, ack: Ack<Progress>) {
        self.write(ack, |kept| {
            match restore {
                Restore::History {
                    run,
                    generation,
                    units,
                    attempts,
                    end,
                } => kept.restore_history(run, generation, units, attempts, end)?,
                Restore::Keys { run, keys } => kept.restore_keys(run, keys)?,
                Restore::Offers { run, offers } => kept.restore_offers(run, offers)?,
                Restore::Run { run, loaded } => kept.restore_run(run, *loaded)?,
                Restore::GiveUp { run } => drop(kept.restoring.remove(&run)),
            }
            Ok(Progress::Done)
        });
    }

    fn record_program(&self, program: ProgramRecord, ack: Ack<()>) {
        self.write(ack, |kept| kept.record_program(program));
    }

    fn programs(&self) -> Result<Vec<ProgramRecord>, StoreError> {
        self.read(|kept| Ok(kept.programs()))
    }

    fn head(&self, run: &RunKey) -> Result<Option<Head>, StoreError> {
        self.read(|kept| Ok(kept.head(run).cloned()))
    }

    fn load(&self, run: &RunKey) -> Result<Option<Loaded>, StoreError> {
        self.read(|kept| {
            let run = kept.runs.get(run);
            if let Some(run) = run.filter(|run| run.head.purged.is_some()) {
                return Ok(Some(Loaded::alone(run.head.clone())));
            }
            Ok(run.map(|run| Loaded {
                head: run.head.clone(),
                tasks: run.tasks.values().cloned().collect(),
                timers: run
                    .timers
                    .iter()
                    .map(|(&operation, &deadline)| (operation, deadline))
                    .collect(),
                queue: run.queue.values().cloned().collect(),
                blocked: run.blocked.values().cloned().collect(),
                views: run.shown(),
            }))
        })
    }

    fn blocked(&self, run: &RunKey) -> Result<Vec<BlockedRecord>, StoreError> {
        self.read(|kept| {
            let run = kept.runs.get(run).filter(|run| run.head.purged.is_none());
            Ok(run
                .map(|run| run.blocked.values().cloned().collect())
                .unwrap_or_default())
        })
    }

    fn keys(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(|kept| {
            let run = kept.runs.get(run).filter(|run| run.head.purged.is_none());
            let records = run.into_iter().flat_map(|run| run.keys_after(after));
            Ok(records.take(limit).cloned().collect())
        })
    }

    fn key(&self, run: &RunKey, kind: KeyKind, key: &str) -> Result<Option<KeyRecord>, StoreError> {
        self.read(|kept| {
            let run = kept.runs.get(run).filter(|run| run.head.purged.is_none());
            let known = run.and_then(|run| {
                let known = run.keys.get(&(kind, key.to_owned()))?;
                is_known(&run.head, known).then(|| known.clone())
            });
            Ok(known)
        })
    }

    fn views(&self, run: &RunKey) -> Result<Vec<ViewRecord>, StoreError> {
        self.read(|kept| Ok(kept.runs.get(run).map(Run::shown).unwrap_or_default()))
    }

    fn view(&self, run: &RunKey, name: &str) -> Result<Option<ViewRecord>, StoreError> {
        self.read(|kept| {
            Ok(kept
                .runs
                .get(run)
                .and_then(|run| run.views.get(name).cloned()))
        })
    }

    fn stream(
        &self,
        run: &RunKey,
        name: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StreamItem>, StoreError> {
        self.read(|kept| {
            let Some(kept) = kept.runs.get(run) else {
                return Ok(Vec::new());
            };
            let mut streams = kept.head.streams.iter();
            let Some(found) = streams.find(|stream| stream.name == name) else {
                return Ok(Vec::new());
            };
            let Some(from) = stream::start(found, after, limit) else {
                return Ok(Vec::new());
            };
            stream::page(run, found, from, limit, kept.units_with(run, name, from))
        })
    }

    fn offer(&self, run: &RunKey, operation: u64) -> Result<Option<Offer>, StoreError> {
        self.read(|kept| {
            let run = kept.runs.get(run);
            Ok(run.and_then(|run| run.offer(operation)).cloned())
        })
    }

    fn offers(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<Offer>, StoreError> {
        self.read(|kept| {
            let run = kept.runs.get(run).into_iter();
            let offers = run.flat_map(|run| run.offers_after(after));
            Ok(offers.take(limit).cloned().collect())
        })
    }

    fn waiting(
        &self,
        namespace: &Namespace,
        after: Option<(&RunId, u64)>,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError> {
        self.read(|kept| {
            let waiting = kept
                .runs
                .iter()
                .filter(|(key, run)| key.namespace == *namespace && run.head.inbox.offers > 0)
                .flat_map(|(key, run)| run.offers_after(0).map(|offer| (&key.id, offer)))
                .filter(|(_, offer)| offer.is_open())
                .filter(|(id, offer)| after.is_none_or(|after| (*id, offer.operation) > after));
            let waiting = waiting.take(limit).map(|(run, offer)| Waiting {
                run: run.clone(),
                offer: offer.clone(),
            });
            Ok(waiting.collect())
        })
    }

    fn history(
        &self,
        run: &RunKey,
        generation: u64,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Unit>, StoreError> {
        self.read(|kept| {
            let Some(kept) = kept
                .runs
                .get(run)
                .and_then(|run| run.generation(generation))
            else {
                return Ok(Vec::new());
            };
            let before = kept
                .units
                .partition_point(|unit| unit.number <= from.max(1));
            let units = kept.units[before.saturating_sub(1)..]
                .iter()
                .cloned()
                .map(Ok);
            rules::page(run, kept.sequence, from, limit, units)
        })
    }

    fn attempts(&self, run: &RunKey, generation: u64) -> Result<Vec<AttemptRecord>, StoreError> {
        self.read(|kept| {
            let generation = kept
                .runs
                .get(run)
                .and_then(|run| run.generation(generation));
            Ok(generation
                .map(|generation| generation.attempts.clone())
                .unwrap_or_default())
        })
    }

    fn due(&self, after: Option<&DueTimer>, limit: usize) -> Result<Vec<DueTimer>, StoreError> {
        self.read(|kept| {
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            Ok(kept
                .due
                .range((from, Bound::Unbounded))
                .take(limit)
                .cloned()
                .collect())
        })
    }

    fn claimable(
        &self,
        artifact: &str,
        after: Option<&RunKey>,
        limit: usize,
    ) -> Result<Vec<RunKey>, StoreError> {
        self.read(|kept| {
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            let runs = kept
                .runs
                .range((from, Bound::Unbounded))
                .filter(|(_, run)| {
                    rules::has_work(&run.head, !run.tasks.is_empty(), !run.queue.is_empty())
                        && !run.blocked.get(artifact).is_some_and(|record| record.unfit)
                });
            Ok(runs.take(limit).map(|(key, _)| key.clone()).collect())
        })
    }

    fn finished(
        &self,
        remains: Remains,
        before: Timestamp,
        after: Option<&FinishedRun>,
        limit: usize,
    ) -> Result<Vec<FinishedRun>, StoreError> {
        self.read(|kept| {
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            let runs = kept.finished.get(&remains).into_iter();
            let runs = runs
                .flat_map(|runs| runs.range((from, Bound::Unbounded)))
                .take_while(|run| run.at < before);
            Ok(runs.take(limit).cloned().collect())
        })
    }

    fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        self.read(|kept| {
            let runs = kept.runs.iter().filter(|(key, run)| {
                key.namespace == query.namespace
                    && query
                        .after
                        .as_ref()
                        .is_none_or(|after: &RunId| key.id > *after)
                    && rules::is_listed(query, &key.id, &run.head)
            });
            let mut runs = runs.map(|(key, run)| (key.id.clone(), run.head.clone()));
            let page = runs.by_ref().take(query.limit).collect();
            Ok(Page {
                runs: page,
                more: runs.next().is_some(),
            })
        })
    }

    fn namespaces(
        &self,
        after: Option<&Namespace>,
        limit: usize,
    ) -> Result<Vec<Namespace>, StoreError> {
        self.read(|kept| {
            let mut found: Vec<Namespace> = Vec::new();
            for run in kept.runs.keys() {
                if after.is_some_and(|after| run.namespace <= *after)
                    || found.last() == Some(&run.namespace)
                {
                    continue;
                }
                if found.len() == limit {
                    break;
                }
                found.push(run.namespace.clone());
            }
            Ok(found)
        })
    }

    fn close(&self) -> Result<(), StoreError> {
        self.kept().closed = true;
        Ok(())
    }
}
