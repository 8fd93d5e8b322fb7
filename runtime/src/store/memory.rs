//! The memory store.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perennial::history::Unit;
use perennial::{RunId, RunKey, Timestamp};

use super::StoreError;
use super::acks::{Answer, answer, deliver};
use super::contract::{
    Ack, AttemptRecord, BlockedChange, BlockedRecord, Changes, Commit, Create, Created, Deliver,
    DueTimer, Head, ListQuery, Loaded, Owner, Page, Queued, Store, Task, TaskChange, TimerChange,
};
use super::rules::{self, Creation, Resolved};

/// Keeps runs as long as it is not dropped: for tests, and for programs whose runs end with them.
///
/// A write is done when the call returns. Its ack is called by then, unless other threads write at the same
/// time or the call comes from within an ack: then whoever is calling acks already calls this one too, in
/// its turn.
#[derive(Default)]
pub struct MemoryStore {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    runs: BTreeMap<RunKey, Run>,
    due: BTreeSet<DueTimer>,
    owners: u64,
    closed: bool,
    answers: VecDeque<Answer>,
    answering: bool,
}

struct Run {
    head: Head,
    generations: BTreeMap<u64, Generation>,
    tasks: BTreeMap<u64, Task>,
    timers: BTreeMap<u64, Timestamp>,
    queue: BTreeMap<u64, Queued>,
    blocked: BTreeMap<String, BlockedRecord>,
}

#[derive(Default)]
struct Generation {
    units: Vec<Unit>,
    attempts: Vec<AttemptRecord>,
    /// The last event that there must be.
    sequence: u64,
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

impl Kept {
    fn head(&self, run: &RunKey) -> Option<&Head> {
        self.runs.get(run).map(|run| &run.head)
    }

    /// Applies what was resolved; nothing can go wrong any more.
    fn apply(&mut self, key: &RunKey, resolved: Resolved, changes: Changes) {
        let Resolved { head, rows } = resolved;
        let run = self.runs.entry(key.clone()).or_insert_with(|| Run {
            head: head.clone(),
            generations: BTreeMap::new(),
            tasks: BTreeMap::new(),
            timers: BTreeMap::new(),
            queue: BTreeMap::new(),
            blocked: BTreeMap::new(),
        });
        let generation = run.generations.entry(head.generation).or_default();
        generation.sequence = head.sequence;
        generation.units.extend(changes.units);
        generation.attempts.extend(changes.attempts);
        run.head = head;
        for arrival in changes.taken {
            run.queue.remove(&arrival);
        }
        run.queue
            .extend(rows.into_iter().map(|row| (row.arrival, row)));
        for change in changes.tasks {
            match change {
                TaskChange::Put(task) => run.tasks.insert(task.operation, task),
                TaskChange::Remove(operation) => run.tasks.remove(&operation),
            };
        }
        for change in changes.timers {
            let (operation, put) = match change {
                TimerChange::Put {
                    operation,
                    deadline,
                } => (operation, Some(deadline)),
                TimerChange::Remove { operation, .. } => (operation, None),
            };
            let due = |deadline| DueTimer {
                deadline,
                run: key.clone(),
                operation,
            };
            if let Some(old) = run.timers.remove(&operation) {
                self.due.remove(&due(old));
            }
            if let Some(deadline) = put {
                run.timers.insert(operation, deadline);
                self.due.insert(due(deadline));
            }
        }
        match changes.blocked {
            Some(BlockedChange::Put(record)) => {
                run.blocked.insert(record.artifact.clone(), record);
            }
            Some(BlockedChange::Clear) => run.blocked.clear(),
            None => {}
        }
    }
}

/// Checks the bounds that the record of a unit or a row has.
fn check_records(resolved: &Resolved, changes: &Changes) -> Result<(), StoreError> {
    changes
        .units
        .iter()
        .try_for_each(|unit| rules::unit_record(unit).map(drop))?;
    resolved
        .rows
        .iter()
        .try_for_each(|row| rules::row_record(row).map(drop))
}

impl Store for MemoryStore {
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
            let resolved = match rules::create(kept.head(&create.run), &create)? {
                Creation::New(resolved) => resolved,
                Creation::Exists(head) => return Ok(Created::Exists(head)),
            };
            check_records(&resolved, &create.changes)?;
            if let Some(run) = kept.runs.get_mut(&create.run) {
                run.blocked.clear();
            }
            let head = resolved.head.clone();
            kept.apply(&create.run, resolved, create.changes);
            Ok(Created::New(head))
        });
    }

    fn commit(&self, commit: Commit, ack: Ack<()>) {
        self.write(ack, |kept| {
            let resolved = rules::commit(kept.head(&commit.run), &commit)?;
            check_records(&resolved, &commit.changes)?;
            kept.apply(&commit.run, resolved, commit.changes);
            Ok(())
        });
    }

    fn deliver(&self, deliver: Deliver, ack: Ack<u64>) {
        self.write(ack, |kept| {
            let resolved = rules::deliver(kept.head(&deliver.run), &deliver)?;
            check_records(&resolved, &Changes::default())?;
            let arrival = resolved.head.arrivals;
            kept.apply(
                &deliver.run,
                resolved,
                Changes {
                    tasks: deliver.tasks,
                    ..Changes::default()
                },
            );
            Ok(arrival)
        });
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

    fn load(&self, run: &RunKey) -> Result<Option<Loaded>, StoreError> {
        self.read(|kept| {
            Ok(kept.runs.get(run).map(|run| Loaded {
                head: run.head.clone(),
                tasks: run.tasks.values().cloned().collect(),
                timers: run
                    .timers
                    .iter()
                    .map(|(&operation, &deadline)| (operation, deadline))
                    .collect(),
                queue: run.queue.values().cloned().collect(),
                blocked: run.blocked.values().cloned().collect(),
            }))
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
                .and_then(|run| run.generations.get(&generation))
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
                .and_then(|run| run.generations.get(&generation));
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

    fn close(&self) -> Result<(), StoreError> {
        self.kept().closed = true;
        Ok(())
    }
}
