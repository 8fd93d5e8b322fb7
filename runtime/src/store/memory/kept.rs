//! What the memory store keeps, and what writes do to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

use perennial::history::Unit;
use perennial::value::Digest;
use perennial::{RunKey, Timestamp};

use super::restore::Restored;
use crate::store::acks::Answer;
use crate::store::blocked::{BlockedChange, BlockedRecord};
use crate::store::contract::{Changes, Created, Deliver, Head, Queued};
use crate::store::inbox::{self, Delivered, Delivery, KeyKind, KeyRecord};
use crate::store::migrate::{self, Migrate, Migration};
use crate::store::offers::{self, Fulfilment, Look, Offer, OfferChange};
use crate::store::program::{self, ProgramRecord};
use crate::store::purge::{self, FinishedRun, Keep, Progress, Purge, Remains};
use crate::store::rules::{self, Resolved};
use crate::store::slots::{Committed, Filled, Keys, Stored};
use crate::store::tasks::{AttemptRecord, DueTimer, Task, TaskChange, TimerChange};
use crate::store::view::{ViewChange, ViewRecord};
use crate::store::{Refusal, StoreError, stream};

#[derive(Default)]
pub(super) struct Kept {
    pub(super) runs: BTreeMap<RunKey, Run>,
    pub(super) due: BTreeSet<DueTimer>,
    pub(super) finished: BTreeMap<Remains, BTreeSet<FinishedRun>>,
    pub(super) restoring: BTreeMap<RunKey, Restored>,
    pub(super) programs: BTreeMap<String, ProgramRecord>,
    pub(super) owners: u64,
    pub(super) closed: bool,
    pub(super) answers: VecDeque<Answer>,
    pub(super) answering: bool,
}

pub(super) struct Run {
    pub(super) head: Head,
    pub(super) generations: BTreeMap<u64, Generation>,
    pub(super) tasks: BTreeMap<u64, Task>,
    pub(super) timers: BTreeMap<u64, Timestamp>,
    pub(super) queue: BTreeMap<u64, Queued>,
    pub(super) blocked: BTreeMap<String, BlockedRecord>,
    /// Sends that it knows, by their keys, and the keys by their arrival numbers.
    pub(super) keys: BTreeMap<(KeyKind, String), KeyRecord>,
    pub(super) arrivals: BTreeMap<u64, (KeyKind, String)>,
    pub(super) views: BTreeMap<String, ViewRecord>,
    /// Where items of streams are: generation and number of the unit, by the number of the first that it has.
    pub(super) items: BTreeMap<(String, u64), (u64, u64)>,
    /// Offers by operation, those of generations among them that were purged.
    pub(super) offers: BTreeMap<u64, Offer>,
}

impl Run {
    pub(super) fn new(head: Head) -> Self {
        Self {
            head,
            generations: BTreeMap::new(),
            tasks: BTreeMap::new(),
            timers: BTreeMap::new(),
            queue: BTreeMap::new(),
            blocked: BTreeMap::new(),
            keys: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            views: BTreeMap::new(),
            items: BTreeMap::new(),
            offers: BTreeMap::new(),
        }
    }

    /// A generation that was not purged.
    pub(super) fn generation(&self, generation: u64) -> Option<&Generation> {
        self.generations
            .get(&generation)
            .filter(|_| generation >= self.head.kept_from)
    }

    /// Notes where the items of a unit are.
    pub(super) fn note_items(&mut self, generation: u64, unit: &Unit) {
        for (name, first) in stream::entries(unit) {
            let place = (generation, unit.number);
            self.items.insert((name.to_owned(), first), place);
        }
    }

    /// The units that have items of a stream, the last one that begins at or before `from` and those after it.
    pub(super) fn units_with<'a>(
        &'a self,
        run: &'a RunKey,
        name: &'a str,
        from: u64,
    ) -> impl Iterator<Item = Result<(u64, Unit), StoreError>> + 'a {
        let key = |number| (name.to_owned(), number);
        let first = self.items.range(key(0)..=key(from)).next_back();
        let first = first.map_or(from, |((_, number), _)| *number);
        self.items.range(key(first)..=key(u64::MAX)).map(
            move |((_, number), &(generation, unit))| {
                let kept = self.generation(generation);
                let units = kept.map_or(&[][..], |kept| &kept.units);
                let found = units.binary_search_by_key(&unit, |unit| unit.number);
                match found {
                    Ok(at) => Ok((generation, units[at].clone())),
                    Err(_) => Err(stream::missing(run, name, *number)),
                }
            },
        )
    }

    /// What its views show, in the order of its head.
    pub(super) fn shown(&self) -> Vec<ViewRecord> {
        let names = self.head.views.iter();
        names
            .filter_map(|name| self.views.get(name).cloned())
            .collect()
    }

    pub(super) fn know_key(&mut self, record: KeyRecord) {
        let place = (record.kind(), record.key.clone());
        self.arrivals.insert(record.arrival, place.clone());
        self.keys.insert(place, record);
    }

    fn forget_key(&mut self, record: &KeyRecord) {
        self.arrivals.remove(&record.arrival);
        self.keys.remove(&(record.kind(), record.key.clone()));
    }

    pub(super) fn forget_keys(&mut self) {
        self.arrivals.clear();
        self.keys.clear();
    }

    /// In the order of their arrival.
    pub(super) fn keys_after(&self, arrival: u64) -> impl Iterator<Item = &KeyRecord> {
        let later = (Bound::Excluded(arrival), Bound::Unbounded);
        self.arrivals
            .range(later)
            .filter_map(|(_, key)| self.keys.get(key))
    }

    pub(super) fn offer(&self, operation: u64) -> Option<&Offer> {
        self.offers
            .get(&operation)
            .filter(|offer| offer.is_kept(&self.head))
    }

    pub(super) fn offers_after(&self, operation: u64) -> impl Iterator<Item = &Offer> {
        let later = (Bound::Excluded(operation), Bound::Unbounded);
        self.offers
            .range(later)
            .map(|(_, offer)| offer)
            .filter(|offer| offer.is_kept(&self.head))
    }

    /// Takes at most so many things away, and says whether there are more.
    fn take(&mut self, limit: usize) -> Progress {
        let mut left = limit.max(1);
        take_some(&mut self.queue, &mut left);
        take_some(&mut self.blocked, &mut left);
        take_some(&mut self.keys, &mut left);
        self.arrivals.clear();
        self.items.clear();
        self.views.clear();
        take_some(&mut self.offers, &mut left);
        if !(self.queue.is_empty()
            && self.blocked.is_empty()
            && self.keys.is_empty()
            && self.offers.is_empty())
        {
            return Progress::More;
        }
        while let Some(mut last) = self.generations.last_entry() {
            let generation = last.get_mut();
            let (units, attempts) = (&mut generation.units, &mut generation.attempts);
            let gone = units.len().min(left);
            units.truncate(units.len() - gone);
            left -= gone;
            let gone = attempts.len().min(left);
            attempts.truncate(attempts.len() - gone);
            left -= gone;
            if !(units.is_empty() && attempts.is_empty()) {
                return Progress::More;
            }
            last.remove();
        }
        Progress::Done
    }
}

fn take_some<K: Ord, V>(things: &mut BTreeMap<K, V>, left: &mut usize) {
    while *left > 0 && things.pop_last().is_some() {
        *left -= 1;
    }
}

/// What there is of a run's offers; of a new run nothing.
struct Offers<'a>(Option<&'a Run>);

impl Look for Offers<'_> {
    fn offer(&self, operation: u64) -> Result<Option<Offer>, StoreError> {
        Ok(self.0.and_then(|run| run.offer(operation)).cloned())
    }

    fn open(&self) -> Result<Vec<Offer>, StoreError> {
        let all = self.0.into_iter().flat_map(|run| run.offers_after(0));
        Ok(all.filter(|offer| offer.is_open()).cloned().collect())
    }
}

#[derive(Default)]
pub(super) struct Generation {
    pub(super) units: Vec<Unit>,
    pub(super) attempts: Vec<AttemptRecord>,
    /// The last event that there must be.
    pub(super) sequence: u64,
}

impl Kept {
    pub(super) fn head(&self, run: &RunKey) -> Option<&Head> {
        self.runs.get(run).map(|run| &run.head)
    }

    /// The place of a run among those that have finished is now that of `head`.
    pub(super) fn place(&mut self, key: &RunKey, head: Option<&Head>) {
        let entry = |head: &Head| {
            purge::remains(head).map(|(remains, at)| {
                let run = key.clone();
                (remains, FinishedRun { at, run })
            })
        };
        if let Some((remains, before)) = self.head(key).and_then(entry)
            && let Some(runs) = self.finished.get_mut(&remains)
        {
            runs.remove(&before);
        }
        if let Some((remains, now)) = head.and_then(entry) {
            self.finished.entry(remains).or_default().insert(now);
        }
    }

    /// Applies what was resolved; nothing can go wrong any more. Gives the head that it leaves.
    pub(super) fn apply(&mut self, key: &RunKey, resolved: Resolved, changes: Changes) -> Head {
        let Resolved {
            head, rows, offers, ..
        } = resolved;
        self.place(key, Some(&head));
        let run = self
            .runs
            .entry(key.clone())
            .or_insert_with(|| Run::new(head.clone()));
        let generation = run.generations.entry(head.generation).or_default();
        generation.sequence = head.sequence;
        generation.attempts.extend(changes.attempts);
        if rules::drops_signals(&run.head, &head) {
            run.queue.retain(|_, row| !rules::is_signal(row));
        }
        let number = head.generation;
        run.head = head;
        for unit in changes.units {
            run.note_items(number, &unit);
            if let Some(generation) = run.generations.get_mut(&number) {
                generation.units.push(unit);
            }
        }
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
        for change in changes.views {
            match change {
                ViewChange::Put(record) => run.views.insert(record.name.clone(), record),
                ViewChange::Remove(name) => run.views.remove(&name),
            };
        }
        match changes.blocked {
            Some(BlockedChange::Put(record)) => {
                run.blocked.insert(record.artifact.clone(), record);
            }
            Some(BlockedChange::Clear) => run.blocked.clear(),
            Some(BlockedChange::Replace(record)) => {
                run.blocked = BTreeMap::from([(record.artifact.clone(), record)]);
            }
            None => {}
        }
        run.offers.extend(offers);
        run.head.clone()
    }
}

impl Kept {
    /// Notes what a write makes of the offers of a run.
    pub(super) fn change_offers(
        &self,
        run: &RunKey,
        resolved: &mut Resolved,
        changes: &[OfferChange],
    ) -> Result<(), StoreError> {
        let there = self.runs.get(run);
        let before = there.map(|run| &run.head);
        offers::change(before, resolved, changes, &Offers(there))
    }
}

impl Stored for Kept {
    fn head(&self, run: &RunKey) -> Result<Option<Head>, StoreError> {
        Ok(Self::head(self, run).cloned())
    }

    fn known(
        &self,
        run: &RunKey,
        _: &Head,
        kind: KeyKind,
        key: &str,
    ) -> Result<Option<KeyRecord>, StoreError> {
        let run = self.runs.get(run);
        let known = run.and_then(|run| run.keys.get(&(kind, key.to_owned())));
        Ok(known.cloned())
    }

    fn oldest(&self, run: &RunKey, _: &Head, limit: usize) -> Result<Vec<KeyRecord>, StoreError> {
        let records = self.runs.get(run).into_iter();
        let records = records.flat_map(|run| run.keys_after(0));
        Ok(records.take(limit).cloned().collect())
    }

    fn offer(&self, run: &RunKey, operation: u64) -> Result<Option<Offer>, StoreError> {
        let run = self.runs.get(run);
        Ok(run.and_then(|run| run.offer(operation)).cloned())
    }
}

impl Kept {
    /// Applies what the slots of a write do beside what it does to its own run.
    pub(super) fn apply_filled(&mut self, run: &RunKey, filled: Filled) {
        self.apply_keys(run, filled.own);
        for (run, other) in filled.others {
            self.apply(&run, other.resolved, Changes::default());
            self.apply_keys(&run, other.keys);
        }
    }

    fn apply_keys(&mut self, run: &RunKey, keys: Keys) {
        if let Some(run) = self.runs.get_mut(run) {
            for old in &keys.evicted {
                run.forget_key(old);
            }
            for (key, before) in keys.put.into_values() {
                if let Some(before) = before {
                    run.forget_key(&before);
                }
                run.know_key(key);
            }
        }
    }
}

impl Kept {
    pub(super) fn deliver(&mut self, deliver: Deliver) -> Result<Delivered, StoreError> {
        if let Some((operation, digest)) = offers::fulfilled(&deliver.observation) {
            return self.fulfil(operation, digest, deliver);
        }
        let run = self.runs.get(&deliver.run);
        let known = run.and_then(|run| {
            let key = &deliver.key.as_ref()?.key;
            run.keys.get(&(KeyKind::Send, key.clone()))
        });
        let oldest = run.into_iter().flat_map(|run| run.keys_after(0));
        let oldest: Vec<_> = oldest.take(inbox::MOST_EVICTED).cloned().collect();
        let head = self.head(&deliver.run);
        let (resolved, delivered, key, evicted) =
            match inbox::deliver(head, known, &oldest, &deliver)? {
                Delivery::Known(delivered) => return Ok(delivered),
                Delivery::New {
                    resolved,
                    delivered,
                    key,
                    evicted,
                } => (resolved, delivered, key, evicted),
            };
        check_records(&resolved, &Changes::default())?;
        let changes = Changes {
            tasks: deliver.tasks,
            ..Changes::default()
        };
        self.apply(&deliver.run, *resolved, changes);
        if let Some(run) = self.runs.get_mut(&deliver.run) {
            for old in &evicted {
                run.forget_key(old);
            }
            if let Some(key) = key {
                run.know_key(key);
            }
        }
        Ok(delivered)
    }

    fn fulfil(
        &mut self,
        operation: u64,
        digest: Digest,
        deliver: Deliver,
    ) -> Result<Delivered, StoreError> {
        let run = self.runs.get(&deliver.run);
        let offer = run.and_then(|run| run.offer(operation)).cloned();
        let head = run.map(|run| &run.head);
        match offers::fulfil(head, offer, operation, digest, &deliver)? {
            Fulfilment::Known(delivered) => Ok(delivered),
            Fulfilment::New {
                resolved,
                delivered,
            } => {
                check_records(&resolved, &Changes::default())?;
                let changes = Changes {
                    tasks: deliver.tasks,
                    ..Changes::default()
                };
                self.apply(&deliver.run, *resolved, changes);
                Ok(delivered)
            }
        }
    }

    pub(super) fn migrate(&mut self, migrate: Migrate) -> Result<Created, StoreError> {
        let (old, new) = (&migrate.end.run, migrate.new_run());
        let resolved = migrate::migrate(self.head(old), self.head(&new), &migrate)?;
        let (mut end, mut begin) = match resolved {
            Migration::Done(head) => return Ok(Created::Exists(*head)),
            Migration::New { end, begin } => (end, begin),
        };
        check_records(&end, &migrate.end.changes)?;
        check_records(&begin, &migrate.begin)?;
        if self.restoring.contains_key(&new) {
            return Err(StoreError::Refused(Refusal::Restoring { run: new }));
        }
        self.change_offers(old, &mut end, &migrate.end.changes.offers)?;
        self.change_offers(&new, &mut begin, &migrate.begin.offers)?;
        self.apply(old, *end, migrate.end.changes);
        let head = self.apply(&new, *begin, migrate.begin);
        Ok(Created::New(head, Committed::default()))
    }

    pub(super) fn purge(&mut self, purge: &Purge) -> Result<Progress, StoreError> {
        let tasks = self.runs.get(&purge.run).map_or(0, |run| run.tasks.len());
        let head = purge::begin(self.head(&purge.run), tasks as u64, purge)?;
        self.place(&purge.run, Some(&head));
        let Some(run) = self.runs.get_mut(&purge.run) else {
            return Ok(Progress::Done);
        };
        run.head = head;
        for (operation, deadline) in std::mem::take(&mut run.timers) {
            self.due.remove(&DueTimer {
                deadline,
                run: purge.run.clone(),
                operation,
            });
        }
        if run.take(purge.limit) == Progress::More {
            return Ok(Progress::More);
        }
        let head = purge::end(run.head.clone());
        match purge.keep {
            Keep::Head => {
                self.place(&purge.run, Some(&head));
                self.runs.insert(purge.run.clone(), Run::new(head));
            }
            Keep::Nothing => {
                self.place(&purge.run, None);
                self.runs.remove(&purge.run);
            }
        }
        Ok(Progress::Done)
    }
}

impl Kept {
    pub(super) fn record_program(&mut self, program: ProgramRecord) -> Result<(), StoreError> {
        program.check()?;
        self.programs.remove(&program.artifact);
        let others = self.programs.values();
        let others = others.map(|other| (other.at, other.artifact.clone()));
        for old in program::evicted(others.collect()) {
            self.programs.remove(&old);
        }
        self.programs.insert(program.artifact.clone(), program);
        Ok(())
    }

    pub(super) fn programs(&self) -> Vec<ProgramRecord> {
        let mut programs: Vec<_> = self.programs.values().cloned().collect();
        program::sort(&mut programs);
        programs
    }
}

pub(super) fn check_units(units: &[Unit]) -> Result<(), StoreError> {
    units
        .iter()
        .try_for_each(|unit| rules::unit_record(unit).map(drop))
}

/// Checks the bounds that the record of a unit or a row has.
pub(super) fn check_records(resolved: &Resolved, changes: &Changes) -> Result<(), StoreError> {
    check_units(&changes.units)?;
    resolved
        .rows
        .iter()
        .try_for_each(|row| rules::row_record(row).map(drop))
}

/// The same of the rows that other runs get.
pub(super) fn check_filled(filled: &Filled) -> Result<(), StoreError> {
    let mut others = filled.others.values();
    others.try_for_each(|other| check_records(&other.resolved, &Changes::default()))
}
