//! Taking runs away, slice by slice.

use perennial::RunKey;

use super::effects::Effects;
use super::keys::{self, Key};
use super::overlay::View;
use super::resolve::change_place;
use super::run::{Kind, RunRecord};
use super::sends;
use super::writer::{Drain, Resolution, Writer};
use crate::store::purge::{self, Keep, Progress, Purge};
use crate::store::{Head, StoreError, TimerChange};

/// A slice goes on to the next record only while it has changed fewer keys than this: a record may have
/// thousands of chunks.
const MAX_KEYS: usize = 1_000;

/// What may still go in a slice.
pub(super) struct Slice {
    left: usize,
    max_keys: usize,
    /// There is more.
    more: bool,
}

impl Slice {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            left: limit.max(1),
            max_keys: MAX_KEYS,
            more: false,
        }
    }

    /// Everything at once.
    pub(super) fn whole() -> Self {
        Self {
            max_keys: usize::MAX,
            ..Self::new(usize::MAX)
        }
    }

    pub(super) fn progress(&self) -> Progress {
        if self.more {
            Progress::More
        } else {
            Progress::Done
        }
    }

    /// Whether another record may go.
    fn takes(&mut self, effects: &Effects<'_>) -> bool {
        if self.left == 0 || effects.count() >= self.max_keys {
            self.more = true;
            return false;
        }
        self.left -= 1;
        true
    }

    fn keys(&self, effects: &Effects<'_>, kind: u8, run: &RunKey) -> Result<Vec<Key>, StoreError> {
        // One more, to know whether there is more.
        let limit = self.left.min(self.max_keys).saturating_add(1);
        effects.keys(&keys::all(kind, run), limit)
    }

    /// Takes records of a run away that have keys of their own.
    pub(super) fn take(
        &mut self,
        effects: &mut Effects<'_>,
        kind: u8,
        run: &RunKey,
    ) -> Result<(), StoreError> {
        for key in self.keys(effects, kind, run)? {
            if effects.removes(&key) {
                continue;
            }
            if !self.takes(effects) {
                break;
            }
            effects.remove_unread(key)?;
        }
        Ok(())
    }

    /// Takes the sends away that a run knows, each with its entry in the order of arrival.
    pub(super) fn take_sends(
        &mut self,
        effects: &mut Effects<'_>,
        run: &RunKey,
    ) -> Result<(), StoreError> {
        for entry in self.keys(effects, keys::SEND_ORDER, run)? {
            if !self.takes(effects) {
                return Ok(());
            }
            match sends::remove_entry(effects, run, &entry) {
                Err(StoreError::Damaged { place, problem }) => {
                    tracing::warn!(%run, "{place} is purged unread: {problem}");
                    effects.remove(entry);
                }
                removed => removed?,
            }
        }
        // Where an entry was damaged or lost.
        self.take(effects, keys::SEND, run)
    }

    /// Takes the offers of a run away, and first the entries of those that are open, which name them.
    pub(super) fn take_offers(
        &mut self,
        effects: &mut Effects<'_>,
        run: &RunKey,
    ) -> Result<(), StoreError> {
        self.take(effects, keys::OPEN_OFFER, run)?;
        self.take(effects, keys::OFFER, run)
    }

    /// Takes away what is beside the histories. First of all, so that a run that begins anew half-way through
    /// its purge mostly finds nothing of it.
    pub(super) fn take_beside(
        &mut self,
        effects: &mut Effects<'_>,
        record: &mut RunRecord,
        run: &RunKey,
    ) -> Result<(), StoreError> {
        self.take_things(effects, record, Kind::Row, run)?;
        self.take_things(effects, record, Kind::Timer, run)?;
        self.take(effects, keys::VIEW, run)?;
        self.take(effects, keys::BLOCKED, run)
    }

    /// Takes rows or timers away, those beside the head and those apart.
    fn take_things(
        &mut self,
        effects: &mut Effects<'_>,
        record: &mut RunRecord,
        kind: Kind,
        run: &RunKey,
    ) -> Result<(), StoreError> {
        let beside = record.things(kind).beside.iter().map(|(number, _)| *number);
        let mut numbers: Vec<u64> = beside.collect();
        if record.things(kind).apart > 0 {
            let apart = self.keys(effects, kind.key(), run)?;
            numbers.extend(apart.iter().filter_map(|key| keys::last_number(key)));
        }
        for number in numbers {
            if !self.takes(effects) {
                break;
            }
            if kind == Kind::Timer {
                // The deadline is where the timer is.
                let change = TimerChange::Remove {
                    operation: number,
                    deadline: perennial::Timestamp::default(),
                };
                record.change_timers(effects, run, &[change])?;
            } else {
                record.take_rows(effects, run, &[number])?;
            }
        }
        Ok(())
    }
}

impl Writer {
    pub(super) fn resolve_purge(
        &mut self,
        drain: &Drain,
        purge: &Purge,
    ) -> Result<Resolution<Progress>, StoreError> {
        let run = &purge.run;
        let before = self.record(drain, run)?;
        let tasks = before
            .as_ref()
            .map_or(0, |record| record.things(Kind::Task).count());
        let head = purge::begin(before.as_ref().map(|record| &record.head), tasks, purge)?;
        let Some(before) = before else {
            return Ok(Resolution::nothing(Progress::Done));
        };
        self.shared
            .overlay
            .read(|view| self.take_slice(view, drain, purge, &before, head))
    }

    fn take_slice(
        &self,
        view: &View<'_>,
        drain: &Drain,
        purge: &Purge,
        before: &RunRecord,
        head: Head,
    ) -> Result<Resolution<Progress>, StoreError> {
        let run = &purge.run;
        let mut effects = Effects::new(view, &drain.changed, drain.commit, drain.next_chunk);
        let mut slice = Slice::new(purge.limit);
        let mut record = before.clone().with_head(head);
        slice.take_beside(&mut effects, &mut record, run)?;
        slice.take_sends(&mut effects, run)?;
        slice.take_offers(&mut effects, run)?;
        for kind in [keys::ITEM, keys::UNIT, keys::ATTEMPT, keys::END] {
            slice.take(&mut effects, kind, run)?;
        }
        let progress = slice.progress();
        if progress == Progress::Done {
            let head = purge::end(record.head.clone());
            record = record.with_head(head);
        }
        let record = (progress == Progress::More || purge.keep == Keep::Head).then_some(record);
        if record.as_ref() == Some(before) && effects.count() == 0 {
            return Ok(Resolution::nothing(progress));
        }
        let head = record.as_ref().map(|record| &record.head);
        change_place(&mut effects, run, Some(&before.head), head);
        match &record {
            Some(record) => record.write(&mut effects, run),
            None => effects.remove(RunRecord::key(run)),
        }
        let runs = -i64::from(record.is_none());
        self.change_runs(&mut effects, runs);
        Ok(Resolution {
            step: effects.finish(),
            record: Some((run.clone(), record)),
            runs,
            ..Resolution::nothing(progress)
        })
    }
}
