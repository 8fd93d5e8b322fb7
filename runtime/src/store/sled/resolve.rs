//! What each kind of write comes to, against what has been applied or is about to be.

use std::collections::HashMap;

use perennial::RunKey;
use perennial::value::Digest;

use super::effects::Effects;
use super::keys;
use super::purge::Slice;
use super::records::{
    ATTEMPT_VERSION, BLOCKED_VERSION, NUMBER_VERSION, UNIT_VALUE_VERSION, attempt_content,
    blocked_content, number_content,
};
use super::run::{RUN_VERSION, RunRecord};
use super::writer::{Drain, Resolution, Writer};
use super::{offers, sends, streams, value, views};
use crate::store::blocked::BlockedChange;
use crate::store::contract::{Changes, Commit, Create, Created, Deliver, Head, Owner};
use crate::store::inbox::{self, Delivered, Delivery, KeyKind, KeyRecord, told};
use crate::store::offers::{self as rules_of_offers, Fulfilment, Offer, fulfil, fulfilled};
use crate::store::purge::remains;
use crate::store::rules::{self, Creation, Resolved};
use crate::store::slots::{self, Committed, Keys, Stored};
use crate::store::{Refusal, StoreError};

impl Writer {
    /// The record of a run as the writes so far leave it.
    pub(super) fn record(
        &mut self,
        drain: &Drain,
        run: &RunKey,
    ) -> Result<Option<RunRecord>, StoreError> {
        if let Some(record) = self.cache.get(run) {
            return Ok(Some(record.clone()));
        }
        let record = self.shared.overlay.read(|view| {
            let effects = Effects::new(view, &drain.changed, drain.commit, 0);
            let Some(value) = effects.get(&RunRecord::key(run))? else {
                return Ok(None);
            };
            let place = || format!("the head of run {run}");
            value::read(view, &value, RUN_VERSION, place, RunRecord::read).map(Some)
        })?;
        let Some(record) = record else {
            return Ok(None);
        };
        self.cache.put(run.clone(), record.clone());
        Ok(Some(record))
    }

    pub(super) fn resolve_create(
        &mut self,
        drain: &Drain,
        create: &Create,
    ) -> Result<Resolution<Created>, StoreError> {
        let before = self.record(drain, &create.run)?;
        let resolved = match rules::create(before.as_ref().map(|record| &record.head), create)? {
            Creation::Exists(head) => return Ok(Resolution::nothing(Created::Exists(head))),
            Creation::New(resolved) => resolved,
        };
        if before.is_none() && self.restoring(drain, &create.run)?.is_some() {
            let run = create.run.clone();
            return Err(StoreError::Refused(Refusal::Restoring { run }));
        }
        let staged = self.stage(drain, &create.run, before, resolved, &create.changes)?;
        Ok(staged.map(|(head, committed)| Created::New(head, committed)))
    }

    pub(super) fn resolve_commit(
        &mut self,
        drain: &Drain,
        commit: &Commit,
    ) -> Result<Resolution<Committed>, StoreError> {
        let before = self.record(drain, &commit.run)?;
        let resolved = rules::commit(before.as_ref().map(|record| &record.head), commit)?;
        let staged = self.stage(drain, &commit.run, before, resolved, &commit.changes)?;
        Ok(staged.map(|(_, committed)| committed))
    }

    pub(super) fn resolve_deliver(
        &mut self,
        drain: &Drain,
        deliver: &Deliver,
    ) -> Result<Resolution<Delivered>, StoreError> {
        let run = &deliver.run;
        let before = self.record(drain, run)?;
        if let Some(fulfilled) = fulfilled(&deliver.observation) {
            return self.resolve_fulfil(drain, deliver, before, fulfilled);
        }
        self.shared.overlay.read(|view| {
            let mut effects = Effects::new(view, &drain.changed, drain.commit, drain.next_chunk);
            let head = before.as_ref().map(|record| &record.head);
            let (mut known, mut oldest) = (None, Vec::new());
            if let (Some(key), Some(head)) = (&deliver.key, head)
                && sends::may_have(&head.inbox)
            {
                known = sends::known(&effects, run, KeyKind::Send, &key.key)?;
                oldest = sends::oldest(&effects, run, inbox::MOST_EVICTED)?;
            }
            let (resolved, delivered, key, evicted) =
                match inbox::deliver(head, known.as_ref(), &oldest, deliver)? {
                    Delivery::Known(delivered) => return Ok(Resolution::nothing(delivered)),
                    Delivery::New {
                        resolved,
                        delivered,
                        key,
                        evicted,
                    } => (resolved, delivered, key, evicted),
                };
            for send in &evicted {
                sends::remove(&mut effects, run, send);
            }
            if let Some(send) = &key {
                sends::put(&mut effects, run, send, known.as_ref());
            }
            let changes = Changes {
                tasks: deliver.tasks.clone(),
                ..Changes::default()
            };
            let (record, attempts) = change(&mut effects, drain, run, before, *resolved, &changes)?;
            Ok(Resolution {
                step: effects.finish(),
                record: Some((run.clone(), Some(record))),
                attempts,
                ..Resolution::nothing(delivered)
            })
        })
    }

    fn resolve_fulfil(
        &self,
        drain: &Drain,
        deliver: &Deliver,
        before: Option<RunRecord>,
        (operation, digest): (u64, Digest),
    ) -> Result<Resolution<Delivered>, StoreError> {
        let run = &deliver.run;
        self.shared.overlay.read(|view| {
            let mut effects = Effects::new(view, &drain.changed, drain.commit, drain.next_chunk);
            let head = before.as_ref().map(|record| &record.head);
            let offer = offers::known(&effects, run, operation)?;
            let (resolved, delivered) = match fulfil(head, offer, operation, digest, deliver)? {
                Fulfilment::Known(delivered) => return Ok(Resolution::nothing(delivered)),
                Fulfilment::New {
                    resolved,
                    delivered,
                } => (resolved, delivered),
            };
            let changes = Changes {
                tasks: deliver.tasks.clone(),
                ..Changes::default()
            };
            let (record, attempts) = change(&mut effects, drain, run, before, *resolved, &changes)?;
            Ok(Resolution {
                step: effects.finish(),
                attempts,
                ..Resolution::nothing(delivered)
            }
            .with_record(run, record))
        })
    }

    pub(super) fn resolve_claim(
        &mut self,
        drain: &Drain,
        run: &RunKey,
        owner: Owner,
    ) -> Result<Resolution<Head>, StoreError> {
        let before = self.record(drain, run)?;
        let head = rules::claim(run, before.as_ref().map(|record| &record.head), owner)?;
        let resolved = Resolved::of(head);
        let staged = self.stage(drain, run, before, resolved, &Changes::default())?;
        Ok(staged.map(|(head, _)| head))
    }

    pub(super) fn resolve_enroll(
        &mut self,
        drain: &Drain,
    ) -> Result<Resolution<Owner>, StoreError> {
        let owner = self.owners + 1;
        let step = self.shared.overlay.read(|view| {
            let mut effects = Effects::new(view, &drain.changed, drain.commit, drain.next_chunk);
            effects.put(
                keys::OWNERS.to_vec(),
                NUMBER_VERSION,
                &number_content(owner),
            );
            Ok(effects.finish())
        })?;
        Ok(Resolution {
            step,
            owners: 1,
            ..Resolution::nothing(Owner(owner))
        })
    }

    /// Fills slots in, and turns what was resolved into effects. Gives the run's head and what was put into queues.
    fn stage(
        &mut self,
        drain: &Drain,
        run: &RunKey,
        before: Option<RunRecord>,
        mut resolved: Resolved,
        changes: &Changes,
    ) -> Result<Resolution<(Head, Committed)>, StoreError> {
        let runs = i64::from(before.is_none());
        let inbox = before.as_ref().map(|record| &record.head.inbox);
        let had_keys = inbox.is_some_and(sends::may_have);
        let mut others = HashMap::new();
        for other in slots::targets(run, &changes.slots) {
            let record = self.record(drain, &other);
            others.insert(other, record);
        }
        self.shared.overlay.read(|view| {
            let mut effects = Effects::new(view, &drain.changed, drain.commit, drain.next_chunk);
            let head = before.as_ref().map(|record| &record.head);
            change_offers(&effects, run, head, &mut resolved, changes)?;
            let stored = Targets {
                effects: &effects,
                others: &others,
            };
            let filled = slots::fill(run, &mut resolved, changes, &stored)?;
            let committed = filled.answer(&resolved);
            self.change_runs(&mut effects, runs);
            for send in &resolved.keys {
                // A generation before may have left one of the same key.
                let known = match had_keys {
                    true => sends::known(&effects, run, send.kind(), &send.key)?,
                    false => None,
                };
                sends::put(&mut effects, run, send, known.as_ref());
            }
            let (record, attempts) = change(&mut effects, drain, run, before, resolved, changes)?;
            let head = record.head.clone();
            change_keys(&mut effects, run, &filled.own);
            let mut also = Vec::with_capacity(filled.others.len());
            for (run, other) in filled.others {
                let before = others.remove(&run).transpose()?.flatten();
                let nothing = Changes::default();
                let (record, _) =
                    change(&mut effects, drain, &run, before, other.resolved, &nothing)?;
                change_keys(&mut effects, &run, &other.keys);
                also.push((run, record));
            }
            Ok(Resolution {
                step: effects.finish(),
                record: Some((run.clone(), Some(record))),
                also,
                attempts,
                owners: 0,
                runs,
                answer: (head, committed),
            })
        })
    }
}

/// The runs that a write tells something, as the writes before it leave them.
struct Targets<'a> {
    effects: &'a Effects<'a>,
    others: &'a HashMap<RunKey, Result<Option<RunRecord>, StoreError>>,
}

impl Stored for Targets<'_> {
    fn head(&self, run: &RunKey) -> Result<Option<Head>, StoreError> {
        match self.others.get(run) {
            Some(Ok(record)) => Ok(record.as_ref().map(|record| record.head.clone())),
            Some(Err(error)) => Err(error.clone()),
            None => Ok(None),
        }
    }

    fn known(
        &self,
        run: &RunKey,
        head: &Head,
        kind: KeyKind,
        key: &str,
    ) -> Result<Option<KeyRecord>, StoreError> {
        if sends::may_have(&head.inbox) {
            sends::known(self.effects, run, kind, key)
        } else {
            Ok(None)
        }
    }

    fn oldest(
        &self,
        run: &RunKey,
        head: &Head,
        limit: usize,
    ) -> Result<Vec<KeyRecord>, StoreError> {
        if sends::may_have(&head.inbox) {
            sends::oldest(self.effects, run, limit)
        } else {
            Ok(Vec::new())
        }
    }

    fn offer(&self, run: &RunKey, operation: u64) -> Result<Option<Offer>, StoreError> {
        offers::known(self.effects, run, operation)
    }
}

/// What a write makes of the offers of a run, whose head was `before`.
pub(super) fn change_offers(
    effects: &Effects<'_>,
    run: &RunKey,
    before: Option<&Head>,
    resolved: &mut Resolved,
    changes: &Changes,
) -> Result<(), StoreError> {
    let known = offers::Known { effects, run };
    rules_of_offers::change(before, resolved, &changes.offers, &known)
}

/// The effects on the keys that a run knows.
fn change_keys(effects: &mut Effects<'_>, run: &RunKey, changed: &Keys) {
    for send in &changed.evicted {
        sends::remove(effects, run, send);
    }
    for (send, before) in changed.put.values() {
        sends::put(effects, run, send, before.as_ref());
    }
}

/// The effects of what was resolved of one run. Gives its record as they leave it, and how many attempts they
/// record.
pub(super) fn change(
    effects: &mut Effects<'_>,
    drain: &Drain,
    run: &RunKey,
    before: Option<RunRecord>,
    resolved: Resolved,
    changes: &Changes,
) -> Result<(RunRecord, u32), StoreError> {
    let work_before = before.as_ref().and_then(RunRecord::work);
    let head_before = before.as_ref().map(|record| record.head.clone());
    let Resolved {
        head,
        rows,
        offers: changed,
        ..
    } = resolved;
    let generation = head.generation;
    for offer in changed.values() {
        offers::put(effects, run, offer);
    }
    let mut record = match before {
        Some(record) => record.with_head(head),
        None => RunRecord::new(head),
    };
    if let Some(old) = head_before
        .as_ref()
        .filter(|old| old.generation != generation)
    {
        if old.purged.is_some_and(|purged| !purged.complete) {
            // What that purge had not come to yet is not the next generation's.
            Slice::whole().take_beside(effects, &mut record, run)?;
        }
        // What the one before was told is not this one's; its keys give their places to new ones.
        record.take_rows_if(effects, run, |row| told(&row.observation).is_some())?;
        let key = keys::numbered(keys::END, run, old.generation);
        effects.put(key, NUMBER_VERSION, &number_content(old.sequence));
    }
    for unit in &changes.units {
        let key = keys::of_generation(keys::UNIT, run, generation, unit.number);
        effects.put(key, UNIT_VALUE_VERSION, &rules::unit_record(unit)?);
        streams::put(effects, run, generation, unit);
    }
    record.take_rows(effects, run, &changes.taken)?;
    if head_before
        .as_ref()
        .is_some_and(|old| rules::drops_signals(old, &record.head))
    {
        record.take_rows_if(effects, run, rules::is_signal)?;
    }
    for row in &rows {
        record.put_row(effects, run, row.arrival, rules::row_record(row)?)?;
    }
    record.change_tasks(effects, run, &changes.tasks)?;
    record.change_timers(effects, run, &changes.timers)?;
    let mut attempts = 0;
    for attempt in &changes.attempts {
        let key = keys::attempt(run, generation, drain.commit, drain.attempts + attempts);
        effects.put(key, ATTEMPT_VERSION, &attempt_content(attempt));
        attempts += 1;
    }
    change_blocked(
        effects,
        run,
        head_before.as_ref(),
        generation,
        changes.blocked.as_ref(),
    )?;
    views::change(
        effects,
        run,
        head_before.as_ref(),
        generation,
        &changes.views,
    )?;
    change_work(effects, run, work_before, record.work());
    change_place(effects, run, head_before.as_ref(), Some(&record.head));
    record.write(effects, run);
    Ok((record, attempts))
}

impl Writer {
    /// There are so many runs more.
    pub(super) fn change_runs(&self, effects: &mut Effects<'_>, more: i64) {
        if more != 0 {
            let content = number_content(self.runs.saturating_add_signed(more));
            effects.put(keys::RUNS.to_vec(), NUMBER_VERSION, &content);
        }
    }
}

/// The index of runs with something to do.
pub(super) fn change_work(
    effects: &mut Effects<'_>,
    run: &RunKey,
    before: Option<bool>,
    now: Option<bool>,
) {
    let key = || keys::one(keys::WORK, run);
    match now {
        _ if before == now => {}
        Some(blocked) => effects.put(key(), NUMBER_VERSION, &number_content(blocked.into())),
        None => effects.remove(key()),
    }
}

/// The index of runs that have finished.
pub(super) fn change_place(
    effects: &mut Effects<'_>,
    run: &RunKey,
    before: Option<&Head>,
    now: Option<&Head>,
) {
    let key = |head: Option<&Head>| {
        let (remains, at) = remains(head?)?;
        Some(keys::finished(remains, at, run))
    };
    let (before, now) = (key(before), key(now));
    if before != now {
        if let Some(key) = before {
            effects.remove(key);
        }
        if let Some(key) = now {
            effects.put(key, NUMBER_VERSION, &[]);
        }
    }
}

/// Blocked records are few and large, and have keys of their own. They belong to a generation: the next one
/// begins without.
fn change_blocked(
    effects: &mut Effects<'_>,
    run: &RunKey,
    before: Option<&Head>,
    generation: u64,
    change: Option<&BlockedChange>,
) -> Result<(), StoreError> {
    let were_blocked = before.is_some_and(|head| head.blocked);
    let next_generation = before.is_some_and(|head| head.generation != generation);
    let all_go = next_generation
        || matches!(
            change,
            Some(BlockedChange::Clear | BlockedChange::Replace(_))
        );
    if were_blocked && all_go {
        for key in effects.keys(&keys::all(keys::BLOCKED, run), usize::MAX)? {
            effects.remove_unread(key)?;
        }
    }
    if let Some(BlockedChange::Put(record) | BlockedChange::Replace(record)) = change {
        let key = keys::blocked(run, &record.artifact);
        if were_blocked && !all_go {
            effects.remove_unread(key.clone())?;
        }
        effects.put(key, BLOCKED_VERSION, &blocked_content(record));
    }
    Ok(())
}
