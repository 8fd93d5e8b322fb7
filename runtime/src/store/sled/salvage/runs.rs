//! The runs of a damaged store, one by one: whole ones as any export has them, and of the others what can be
//! read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use perennial::RunKey;

use super::found::{Found, text, unit};
use super::{Damages, SalvageError};
use crate::store::export::{PartialRun, Writer};
use crate::store::sled::check;
use crate::store::sled::keys;
use crate::store::sled::overlay::View;
use crate::store::{Head, Loaded, StoreError};

/// What became of the runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) whole: u64,
    pub(super) partial: Vec<PartialRun>,
    /// Runs that are whole but for what they did last, or for what nothing depends on.
    pub(super) reduced: Vec<PartialRun>,
    /// Imports that were under way.
    pub(super) restoring: u64,
    pub(super) damages: Damages,
}

/// Names all runs of which there is anything, and notes each record that is damaged.
pub(super) fn survey(view: &View<'_>, tally: &mut Tally) -> Result<BTreeSet<RunKey>, StoreError> {
    let mut runs = BTreeSet::new();
    let everything = (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
    for entry in view.range(everything.0, everything.1) {
        let (key, stored) = entry?;
        if let Err(error) = check::record(view, &key, &stored) {
            tally.damages.note(&key, text(&error));
        }
        if let Some(run) = run_of(&key).filter(|run| runs.last() != Some(run)) {
            runs.insert(run);
        }
    }
    Ok(runs)
}

/// The run that a record is of, if it is part of what a run is made of: indexes are made anew.
fn run_of(key: &[u8]) -> Option<RunKey> {
    match *key.first()? {
        keys::RUN | keys::WORK | keys::RESTORING => keys::run_of(key),
        keys::UNIT
        | keys::END
        | keys::ATTEMPT
        | keys::TASK
        | keys::ROW
        | keys::TIMER
        | keys::BLOCKED
        | keys::SEND
        | keys::SEND_ORDER
        | keys::ITEM
        | keys::VIEW
        | keys::OFFER
        | keys::OPEN_OFFER => keys::run_and_rest(key).map(|(run, _)| run),
        _ => None,
    }
}

/// Writes one run, whole or not.
pub(super) fn write<W: Write>(
    view: &View<'_>,
    run: &RunKey,
    out: &mut Writer<W>,
    tally: &mut Tally,
) -> Result<(), SalvageError> {
    let mut found = Found::read(view, run)?;
    let Some(record) = &found.record else {
        if view.get(&keys::one(keys::RESTORING, run))?.is_some() {
            tally.restoring += 1;
            return Ok(());
        }
        found.missing.push("its head is missing".into());
        return found.write_partial(view, run, None, out, tally);
    };
    let head = record.head.clone();
    if head.purged.is_some() {
        out.head(run, &head)?;
        tally.whole += 1;
        return Ok(());
    }
    let problems = found.problems_of_histories(view, run, &head)?;
    // The generation that goes on, and all that is beside it, must be whole. Those before it are over.
    let broken = problems.keys().next_back().copied();
    if found.missing.is_empty() && broken.is_none_or(|broken| broken < head.generation) {
        let kept_from = broken.map_or(head.kept_from, |broken| broken + 1);
        let whole = Head { kept_from, ..head };
        return found.write_whole(view, run, &whole, problems, out, tally);
    }
    found.missing.extend(problems.into_values());
    found.write_partial(view, run, Some(&head), out, tally)
}

impl Found {
    fn write_whole<W: Write>(
        mut self,
        view: &View<'_>,
        run: &RunKey,
        head: &Head,
        problems: BTreeMap<u64, String>,
        out: &mut Writer<W>,
        tally: &mut Tally,
    ) -> Result<(), SalvageError> {
        let mut beside = self
            .beside
            .take()
            .unwrap_or_else(|| Loaded::alone(head.clone()));
        beside.head = Head {
            // Without a record of it the next program finds out by itself.
            blocked: !beside.blocked.is_empty(),
            ..head.clone()
        };
        self.count_keys(&mut beside.head);
        self.count_items(&mut beside.head);
        beside.head.views = beside.views.iter().map(|view| view.name.clone()).collect();
        out.head(run, &beside.head)?;
        self.write_keys(run, out)?;
        let kept = self.offers.values();
        let kept = kept.filter(|offer| offer.generation >= head.kept_from);
        out.offers(run, &kept.cloned().collect::<Vec<_>>())?;
        out.beside(run, &beside)?;
        for generation in head.kept_from..=head.generation {
            let last = if generation == head.generation {
                head.sequence
            } else {
                u64::MAX
            };
            self.write_history(view, run, generation, last, out)?;
        }
        tally.whole += 1;
        if problems.is_empty() {
            if !self.lost.is_empty() {
                tally.reduced.push(PartialRun {
                    run: run.clone(),
                    problems: self.lost,
                });
            }
            return Ok(());
        }
        // What is left of the generations that are over.
        self.missing = problems.into_values().collect();
        self.histories
            .retain(|generation, _| *generation < head.kept_from);
        self.write_partial(view, run, None, out, tally)
    }

    /// Lets a head say how many keys are left. Where some are lost, all that were used before are too old: better
    /// than that a send comes twice.
    fn count_keys(&self, head: &mut Head) {
        let left = self.keys.len() as u64;
        if left != head.inbox.keys {
            head.inbox.keys_until = head.inbox.keys_until.max(head.stamp);
        }
        head.inbox.keys = left;
    }

    /// Lets a head say which items are left: those of generations that are lost are not.
    fn count_items(&self, head: &mut Head) {
        let kept = self.histories.range(head.kept_from..=head.generation);
        for stream in &mut head.streams {
            let mut firsts = kept
                .clone()
                .filter_map(|(_, reach)| reach.streams.get(&stream.name));
            stream.first = firsts.next().map_or(stream.last + 1, |first| *first);
        }
    }

    fn write_keys<W: Write>(&self, run: &RunKey, out: &mut Writer<W>) -> std::io::Result<()> {
        let keys = self.keys.values().cloned();
        out.keys(run, &keys.collect::<Vec<_>>())
    }

    fn write_partial<W: Write>(
        mut self,
        view: &View<'_>,
        run: &RunKey,
        head: Option<&Head>,
        out: &mut Writer<W>,
        tally: &mut Tally,
    ) -> Result<(), SalvageError> {
        let mut problems = std::mem::take(&mut self.missing);
        problems.extend(std::mem::take(&mut self.lost));
        out.partial(run, head, problems.clone())?;
        self.write_keys(run, out)?;
        let offers = self.offers.values().cloned();
        out.offers(run, &offers.collect::<Vec<_>>())?;
        if let Some(beside) = &self.beside {
            out.beside(run, beside)?;
        }
        let generations: Vec<u64> = self.histories.keys().copied().collect();
        for generation in generations {
            let last = self.histories[&generation].last;
            self.write_history(view, run, generation, last, out)?;
        }
        tally.partial.push(PartialRun {
            run: run.clone(),
            problems,
        });
        Ok(())
    }

    /// Writes the events up to `last`, as far as they can be read, and the attempts.
    fn write_history<W: Write>(
        &self,
        view: &View<'_>,
        run: &RunKey,
        generation: u64,
        last: u64,
        out: &mut Writer<W>,
    ) -> Result<(), SalvageError> {
        let reach = self
            .histories
            .get(&generation)
            .map_or(0, |reach| reach.last);
        for entry in view.prefix(&keys::numbered(keys::UNIT, run, generation)) {
            let (key, stored) = entry?;
            let number = keys::last_number(&key).unwrap_or(u64::MAX);
            if number > last.min(reach) {
                break;
            }
            let unit = unit(view, run, generation, number, &stored)?;
            out.unit(run, generation, &unit)?;
        }
        for attempt in self.attempts.get(&generation).into_iter().flatten() {
            out.attempt(run, generation, attempt)?;
        }
        Ok(())
    }
}
