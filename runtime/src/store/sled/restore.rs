//! Putting runs back.

use perennial::RunKey;
use perennial::history::Unit;

use super::effects::Effects;
use super::keys;
use super::purge::Slice;
use super::records::{
    ATTEMPT_VERSION, BLOCKED_VERSION, NUMBER_VERSION, RESTORING_VERSION, UNIT_VALUE_VERSION,
    attempt_content, blocked_content, number_content, read_restoring, restoring_content,
};
use super::resolve::{change_place, change_work};
use super::run::RunRecord;
use super::writer::{Drain, Resolution, Writer};
use super::{offers, sends, streams, value, views};
use crate::store::contract::Loaded;
use crate::store::inbox::KeyRecord;
use crate::store::offers::Offer;
use crate::store::purge::Progress;
use crate::store::restore::{self, Restore, Restoring};
use crate::store::tasks::{AttemptRecord, TaskChange, TimerChange};
use crate::store::{StoreError, rules};

/// So many records go in one slice of giving up.
const SLICE: usize = 500;

impl Writer {
    pub(super) fn resolve_restore(
        &mut self,
        drain: &Drain,
        restore: &Restore,
    ) -> Result<Resolution<Progress>, StoreError> {
        match restore {
            Restore::History {
                run,
                generation,
                units,
                attempts,
                end,
            } => self.restore_history(drain, run, *generation, units, attempts, *end),
            Restore::Keys { run, keys } => self.restore_keys(drain, run, keys),
            Restore::Offers { run, offers } => self.restore_offers(drain, run, offers),
            Restore::Run { run, loaded } => self.restore_run(drain, run, loaded),
            Restore::GiveUp { run } => self.give_up(drain, run),
        }
    }

    /// How far the restore of a run is, if one has begun.
    pub(super) fn restoring(
        &self,
        drain: &Drain,
        run: &RunKey,
    ) -> Result<Option<Restoring>, StoreError> {
        self.shared.overlay.read(|view| {
            let effects = Effects::new(view, &drain.changed, drain.commit, 0);
            let Some(value) = effects.get(&keys::one(keys::RESTORING, run))? else {
                return Ok(None);
            };
            let place = || format!("the restore of run {run}");
            value::read(view, &value, RESTORING_VERSION, place, read_restoring).map(Some)
        })
    }

    fn restore_history(
        &mut self,
        drain: &Drain,
        run: &RunKey,
        generation: u64,
        units: &[Unit],
        attempts: &[AttemptRecord],
        end: Option<u64>,
    ) -> Result<Resolution<Progress>, StoreError> {
        let exists = self.record(drain, run)?.is_some();
        let so_far = self.restoring(drain, run)?;
        let now = restore::history(run, exists, so_far.as_ref(), generation, units, end)?;
        rules::check_attempts(attempts)?;
        self.with_effects(drain, |mut effects| {
            for unit in units {
                let key = keys::of_generation(keys::UNIT, run, generation, unit.number);
                effects.put(key, UNIT_VALUE_VERSION, &rules::unit_record(unit)?);
                streams::put(&mut effects, run, generation, unit);
            }
            let mut recorded = 0;
            for attempt in attempts {
                let key = keys::attempt(run, generation, drain.commit, drain.attempts + recorded);
                effects.put(key, ATTEMPT_VERSION, &attempt_content(attempt));
                recorded += 1;
            }
            if let Some(end) = end {
                let key = keys::numbered(keys::END, run, generation);
                effects.put(key, NUMBER_VERSION, &number_content(end));
            }
            effects.put(
                keys::one(keys::RESTORING, run),
                RESTORING_VERSION,
                &restoring_content(&now),
            );
            Ok(Resolution {
                step: effects.finish(),
                attempts: recorded,
                ..Resolution::nothing(Progress::Done)
            })
        })
    }

    fn restore_keys(
        &mut self,
        drain: &Drain,
        run: &RunKey,
        given: &[KeyRecord],
    ) -> Result<Resolution<Progress>, StoreError> {
        let exists = self.record(drain, run)?.is_some();
        let so_far = self.restoring(drain, run)?;
        let now = restore::keys(run, exists, so_far.as_ref(), given)?;
        self.with_effects(drain, |mut effects| {
            for send in given {
                if sends::known(&effects, run, send.kind(), &send.key)?.is_some() {
                    return restore::two_of_one_key(run);
                }
                sends::put(&mut effects, run, send, None);
            }
            effects.put(
                keys::one(keys::RESTORING, run),
                RESTORING_VERSION,
                &restoring_content(&now),
            );
            Ok(Resolution {
                step: effects.finish(),
                ..Resolution::nothing(Progress::Done)
            })
        })
    }

    fn restore_offers(
        &mut self,
        drain: &Drain,
        run: &RunKey,
        given: &[Offer],
    ) -> Result<Resolution<Progress>, StoreError> {
        let exists = self.record(drain, run)?.is_some();
        let so_far = self.restoring(drain, run)?;
        let now = restore::offers(run, exists, so_far.as_ref(), given)?;
        self.with_effects(drain, |mut effects| {
            for offer in given {
                offers::put(&mut effects, run, offer);
            }
            effects.put(
                keys::one(keys::RESTORING, run),
                RESTORING_VERSION,
                &restoring_content(&now),
            );
            Ok(Resolution {
                step: effects.finish(),
                ..Resolution::nothing(Progress::Done)
            })
        })
    }

    fn restore_run(
        &mut self,
        drain: &Drain,
        run: &RunKey,
        loaded: &Loaded,
    ) -> Result<Resolution<Progress>, StoreError> {
        let exists = self.record(drain, run)?.is_some();
        let so_far = self.restoring(drain, run)?;
        restore::finish(run, exists, so_far.as_ref(), loaded)?;
        // Whoever enrolls after this is told from all owners that it names (S20).
        let owners = restore::greatest_owner(loaded).saturating_sub(self.owners);
        self.with_effects(drain, |mut effects| {
            let record = put_run(&mut effects, run, loaded)?;
            if so_far.is_some() {
                effects.remove(keys::one(keys::RESTORING, run));
            }
            if owners > 0 {
                let owners = number_content(self.owners + owners);
                effects.put(keys::OWNERS.to_vec(), NUMBER_VERSION, &owners);
            }
            self.change_runs(&mut effects, 1);
            Ok(Resolution {
                step: effects.finish(),
                record: Some((run.clone(), Some(record))),
                owners,
                runs: 1,
                ..Resolution::nothing(Progress::Done)
            })
        })
    }

    fn give_up(&mut self, drain: &Drain, run: &RunKey) -> Result<Resolution<Progress>, StoreError> {
        let Some(so_far) = self.restoring(drain, run)? else {
            return Ok(Resolution::nothing(Progress::Done));
        };
        self.with_effects(drain, |mut effects| {
            let mut slice = Slice::new(SLICE);
            slice.take_sends(&mut effects, run)?;
            slice.take_offers(&mut effects, run)?;
            for kind in [keys::ITEM, keys::UNIT, keys::ATTEMPT, keys::END] {
                slice.take(&mut effects, kind, run)?;
            }
            let key = keys::one(keys::RESTORING, run);
            let progress = slice.progress();
            match progress {
                Progress::More => {
                    let now = Restoring {
                        given_up: true,
                        ..so_far
                    };
                    effects.put(key, RESTORING_VERSION, &restoring_content(&now));
                }
                Progress::Done => effects.remove(key),
            }
            Ok(Resolution {
                step: effects.finish(),
                ..Resolution::nothing(progress)
            })
        })
    }

    fn with_effects<T>(
        &self,
        drain: &Drain,
        make: impl FnOnce(Effects<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.shared.overlay.read(|view| {
            make(Effects::new(
                view,
                &drain.changed,
                drain.commit,
                drain.next_chunk,
            ))
        })
    }
}

/// Puts all that is beside the histories of a run.
fn put_run(
    effects: &mut Effects<'_>,
    run: &RunKey,
    loaded: &Loaded,
) -> Result<RunRecord, StoreError> {
    let Loaded {
        head,
        tasks,
        timers,
        queue,
        blocked,
        views,
    } = loaded;
    let mut record = RunRecord::new(head.clone());
    for row in queue {
        record.put_row(effects, run, row.arrival, rules::row_record(row)?)?;
    }
    let tasks: Vec<_> = tasks.iter().cloned().map(TaskChange::Put).collect();
    record.change_tasks(effects, run, &tasks)?;
    let put = |&(operation, deadline): &_| TimerChange::Put {
        operation,
        deadline,
    };
    let timers: Vec<_> = timers.iter().map(put).collect();
    record.change_timers(effects, run, &timers)?;
    for one in blocked {
        let key = keys::blocked(run, &one.artifact);
        effects.put(key, BLOCKED_VERSION, &blocked_content(one));
    }
    views::put(effects, run, views);
    change_work(effects, run, None, record.work());
    change_place(effects, run, None, Some(head));
    record.write(effects, run);
    Ok(record)
}
