//! Reading everything that a store keeps, and holding it against each other.

use std::ops::Bound;

use perennial::RunKey;
use perennial::wire::RecordError;

use super::keys::{self, Key};
use super::overlay::View;
use super::problem::damaged;
use super::run::RunRecord;
use super::{SledStore, check, indexes, offers, sends, streams, views};
use crate::store::{Head, Store as _, StoreError};

impl SledStore {
    /// Reads everything: each record and its checksum, each history and its numbering. Writes go on between
    /// the slices in which this reads.
    ///
    /// # Errors
    ///
    /// When the store is closed, or sled fails. What is damaged stands in the report.
    pub fn verify(&self) -> Result<Report, StoreError> {
        const SLICE: usize = 1_000;
        let mut report = Report::default();
        if let Some(difference) = self.shared.taken.verify(&self.shared.overlay)? {
            report.note(difference.into());
        }
        let mut after = None;
        let counted = self.shared.overlay.read(check::runs);
        loop {
            let (last, runs) = self
                .shared
                .overlay
                .read(|view| some_records(view, after.as_ref(), SLICE, &mut report))?;
            for run in runs {
                self.verify_run(&run, &mut report)?;
            }
            match last {
                Some(last) => after = Some(last),
                None => break,
            }
        }
        // Where runs have come and gone meanwhile, it cannot be told.
        if let (Ok(before), Ok(after)) = (counted, self.shared.overlay.read(check::runs))
            && before == after
            && report.runs != after
        {
            report.note(damaged(
                format!(
                    "the number of runs, which says {after}, where there are {}",
                    report.runs
                ),
                RecordError::Damaged {
                    problem: "some are missing, or it is wrong",
                },
            ));
        }
        Ok(report)
    }

    fn verify_run(&self, run: &RunKey, report: &mut Report) -> Result<(), StoreError> {
        report.runs += 1;
        let head = match self.load(run) {
            Ok(Some(loaded)) => loaded.head,
            Ok(None) => return Ok(()),
            Err(error @ (StoreError::Closed { .. } | StoreError::Io { .. })) => return Err(error),
            Err(error) => {
                report.note(error);
                return Ok(());
            }
        };
        match self.shared.overlay.read(|view| indexes::of_run(view, run)) {
            Err(error @ (StoreError::Closed { .. } | StoreError::Io { .. })) => return Err(error),
            Err(error) => report.note(error),
            Ok(()) => {}
        }
        match self.views(run) {
            Ok(views) => report.views += views.len() as u64,
            Err(error @ (StoreError::Closed { .. } | StoreError::Io { .. })) => return Err(error),
            Err(error) => report.note(error),
        }
        self.verify_keys(run, &head, report)?;
        self.verify_streams(run, &head, report)?;
        self.verify_offers(run, &head, report)?;
        for generation in head.kept_from..=head.generation {
            report.generations += 1;
            let mut from = 1;
            loop {
                match self.history(run, generation, from, PAGE) {
                    Ok(units) => {
                        report.units += units.len() as u64;
                        let Some(last) = units.last() else { break };
                        report.events += last.last() + 1 - from;
                        from = last.last() + 1;
                    }
                    Err(error @ (StoreError::Closed { .. } | StoreError::Io { .. })) => {
                        return Err(error);
                    }
                    Err(error) => {
                        report.note(error);
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

impl SledStore {
    /// Whether the run knows as many keys as its head says. A lost one would let a send come twice.
    fn verify_keys(
        &self,
        run: &RunKey,
        head: &Head,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let mut found = 0;
        let page = |after| self.keys(run, after, PAGE);
        let is_read = each(report, page, |key| {
            found += 1;
            key.arrival
        })?;
        if !is_read {
            return Ok(());
        }
        report.keys += found;
        // Where it was told something meanwhile, it cannot be told.
        let stands = matches!(self.head(run), Ok(Some(now)) if now.inbox == head.inbox);
        if found != head.inbox.keys && stands {
            let place = format!(
                "the number of idempotency keys of run {run}, which says {}, where there are {found}",
                head.inbox.keys
            );
            let problem = "some are missing, or it is wrong";
            report.note(damaged(place, RecordError::Damaged { problem }));
        }
        Ok(())
    }
}

impl SledStore {
    /// Whether all items are there that the head speaks of, and can be found.
    fn verify_streams(
        &self,
        run: &RunKey,
        head: &Head,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let mut items = 0;
        for stream in &head.streams {
            let page = |after| self.stream(run, &stream.name, after, PAGE);
            each(report, page, |item| {
                items += 1;
                item.number
            })?;
        }
        report.items += items;
        Ok(())
    }

    /// Whether as many offers of the run are open as its head says. Nobody could fulfil one that is lost.
    fn verify_offers(
        &self,
        run: &RunKey,
        head: &Head,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let (mut found, mut open) = (0, 0);
        let page = |after| self.offers(run, after, PAGE);
        let is_read = each(report, page, |offer| {
            found += 1;
            open += u64::from(offer.is_open());
            offer.operation
        })?;
        if !is_read {
            return Ok(());
        }
        report.offers += found;
        // Where something came of one meanwhile, it cannot be told.
        let stands = matches!(self.head(run), Ok(Some(now)) if now.inbox == head.inbox);
        if open != head.inbox.offers && stands {
            let place = format!(
                "the number of open offers of run {run}, which says {}, where there are {open}",
                head.inbox.offers
            );
            let problem = "some are missing, or it is wrong";
            report.note(damaged(place, RecordError::Damaged { problem }));
        }
        Ok(())
    }
}

/// So many are read at a time.
const PAGE: usize = 1_000;

/// Reads all of something, page by page: `look` sees each one and gives back after which number the next page begins.
/// What is damaged stands in the report; says whether nothing was.
fn each<T>(
    report: &mut Report,
    page: impl Fn(u64) -> Result<Vec<T>, StoreError>,
    mut look: impl FnMut(&T) -> u64,
) -> Result<bool, StoreError> {
    let mut after = 0;
    loop {
        match page(after) {
            Ok(page) if page.is_empty() => return Ok(true),
            Ok(page) => page.iter().for_each(|one| after = look(one)),
            Err(error @ (StoreError::Closed { .. } | StoreError::Io { .. })) => return Err(error),
            Err(error) => {
                report.note(error);
                return Ok(false);
            }
        }
    }
}

/// Whether the run of a unit or a key is there, or is being restored, and what an index names is so. `seen` is the run
/// that was looked for last.
fn belongs(
    view: &View<'_>,
    key: &[u8],
    stored: &[u8],
    seen: &mut Option<RunKey>,
) -> Result<(), StoreError> {
    indexes::belongs(view, key)?;
    sends::belongs(view, key, stored)?;
    streams::belongs(view, key, stored)?;
    views::belongs(view, key)?;
    offers::belongs(view, key, stored)?;
    if !matches!(
        key.first(),
        Some(&(keys::UNIT | keys::SEND | keys::SEND_ORDER | keys::ITEM | keys::VIEW | keys::OFFER))
    ) {
        return Ok(());
    }
    let Some((run, _)) = keys::run_and_rest(key) else {
        return Ok(());
    };
    if seen.as_ref() == Some(&run) {
        return Ok(());
    }
    let there = view.get(&RunRecord::key(&run))?.is_some()
        || view.get(&keys::one(keys::RESTORING, &run))?.is_some();
    let place = format!("the head of run {run}");
    *seen = Some(run);
    if there {
        Ok(())
    } else {
        Err(damaged(
            place,
            RecordError::Damaged {
                problem: "it is missing",
            },
        ))
    }
}

/// What [`SledStore::verify`] found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// How many runs there are.
    pub runs: u64,
    /// How many generations they have.
    pub generations: u64,
    /// How many units those have.
    pub units: u64,
    /// How many events those hold.
    pub events: u64,
    /// How many sends the runs know by their idempotency keys.
    pub keys: u64,
    /// How many items the streams of the runs have.
    pub items: u64,
    /// How many views the runs have.
    pub views: u64,
    /// How many offers the runs have made.
    pub offers: u64,
    /// How many programs the store has had, as far as it has kept them.
    pub programs: u64,
    /// How many records there are of all kinds.
    pub records: u64,
    /// What is wrong, at most [`Report::MAX_PROBLEMS`] of it.
    pub problems: Vec<StoreError>,
    /// Whether there is more that is wrong.
    pub more_problems: bool,
}

impl Report {
    /// So many problems are told.
    pub const MAX_PROBLEMS: usize = 1_000;

    /// Whether everything is as it was written.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }

    fn note(&mut self, problem: StoreError) {
        // A damaged unit is met twice: as a record, and as a part of its history.
        if self.problems.contains(&problem) {
            return;
        }
        if self.problems.len() < Self::MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more_problems = true;
        }
    }
}

/// Reads some records after `after`, and gives the last that it read and the runs among them.
fn some_records(
    view: &View<'_>,
    after: Option<&Key>,
    limit: usize,
    report: &mut Report,
) -> Result<(Option<Key>, Vec<RunKey>), StoreError> {
    let from = after.map_or(Bound::Unbounded, |key| Bound::Excluded(key.clone()));
    let (mut last, mut runs) = (None, Vec::new());
    let mut headless = None;
    for entry in view.range(from, Bound::Unbounded).take(limit) {
        let (key, stored) = entry?;
        report.records += 1;
        match check::record(view, &key, &stored)
            .and_then(|()| belongs(view, &key, &stored, &mut headless))
        {
            Ok(()) => {}
            Err(error @ StoreError::Io { .. }) => return Err(error),
            Err(error) => report.note(error),
        }
        report.programs += u64::from(key.first() == Some(&keys::PROGRAM));
        if key.first() == Some(&keys::RUN) {
            runs.extend(keys::run_of(&key));
        }
        last = Some(key.to_vec());
    }
    Ok((last, runs))
}
