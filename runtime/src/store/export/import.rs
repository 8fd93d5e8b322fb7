//! Putting what an export holds into a store that is empty.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, Sender, channel};

use perennial::RunKey;

use super::contents::PartialRun;
use super::error::ImportError;
use super::format::{Content, Counts};
use super::reader::{Reader, Step};
use crate::store::purge::Progress;
use crate::store::restore::Restore;
use crate::store::{AttemptRecord, KeyRecord, Loaded, ProgramRecord, Store, StoreError};
use perennial::history::Unit;

/// What becomes of runs that are not whole. A salvage finds such; they could not go on, since nobody knows
/// what they did after the part of their histories that is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartialRuns {
    /// Nothing is imported.
    #[default]
    Refuse,
    /// They are left out: in the new store there are no such runs.
    LeaveOut,
}

/// What an import came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// What the export holds.
    pub counts: Counts,
    /// The runs that were left out.
    pub left_out: Vec<PartialRun>,
}

/// So many events go into one part of a history, unless a unit has more.
const PART_EVENTS: usize = 500;
/// So many keys go into one part.
const PART_KEYS: usize = 500;
/// So many parts may be under way.
const UNDER_WAY: usize = 16;

/// Puts all runs and programs of an export into `store`, which must have none of the runs, and must not be in
/// use.
///
/// When this fails, some of the runs are there, and the store should be thrown away.
///
/// # Errors
///
/// [`ImportError::Unreadable`], [`ImportError::Partial`], [`ImportError::Store`].
pub fn import<R: BufRead>(
    reader: &mut Reader<R>,
    store: &dyn Store,
    partial: PartialRuns,
) -> Result<Imported, ImportError> {
    take(reader, store, partial, |_| true)
}

/// What an export has of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OneRun {
    /// All of it.
    Whole,
    /// Nothing.
    Missing,
    /// A part of it, and this is missing.
    Partial(Vec<String>),
}

/// Puts one run of an export, and its programs, into `store`, which must be empty. The export is read to its end,
/// which checks all of it.
pub(crate) fn import_run<R: BufRead>(
    reader: &mut Reader<R>,
    store: &dyn Store,
    run: &RunKey,
) -> Result<OneRun, ImportError> {
    let imported = take(reader, store, PartialRuns::LeaveOut, |other| other == run)?;
    Ok(match imported.left_out.into_iter().next() {
        Some(partial) => OneRun::Partial(partial.problems),
        None if store.head(run)?.is_some() => OneRun::Whole,
        None => OneRun::Missing,
    })
}

/// The same of the runs that are wanted.
fn take<R: BufRead>(
    reader: &mut Reader<R>,
    store: &dyn Store,
    partial: PartialRuns,
    wanted: impl Fn(&RunKey) -> bool,
) -> Result<Imported, ImportError> {
    let mut parts = Parts::new(store);
    let mut imported = Imported::default();
    let mut open: Option<Open> = None;
    loop {
        match reader.step()? {
            Step::Program(program) => parts.program(*program)?,
            Step::Line(run, _) if !wanted(&run) => {}
            Step::Line(run, Content::Partial(_)) if partial == PartialRuns::Refuse => {
                return Err(ImportError::Partial { runs: 1, run });
            }
            Step::Line(run, Content::Partial(partial)) => imported.left_out.push(PartialRun {
                run,
                problems: partial.problems,
            }),
            Step::Line(run, Content::Head(head)) => {
                open = Some(Open::new(run, Loaded::alone(*head)))
            }
            Step::Line(run, Content::Withdrawn) => {
                open = None;
                parts.give_up(&run)?;
            }
            Step::Line(_, content) => {
                if let Some(open) = &mut open {
                    open.add(content, &mut parts)?;
                }
            }
            Step::Done => {
                if let Some(open) = open.take() {
                    open.finish(&mut parts)?;
                }
            }
            Step::End => break,
        }
    }
    parts.settle()?;
    imported.counts = reader.counts().clone();
    Ok(imported)
}

/// The run whose lines are read.
struct Open {
    run: RunKey,
    loaded: Loaded,
    generation: u64,
    /// The last event of that so far.
    last: u64,
    units: Vec<Unit>,
    attempts: Vec<AttemptRecord>,
    events: usize,
    keys: Vec<KeyRecord>,
}

impl Open {
    fn new(run: RunKey, loaded: Loaded) -> Self {
        Self {
            run,
            generation: loaded.head.kept_from,
            loaded,
            last: 0,
            units: Vec::new(),
            attempts: Vec::new(),
            events: 0,
            keys: Vec::new(),
        }
    }

    fn add(&mut self, content: Content, parts: &mut Parts<'_>) -> Result<(), StoreError> {
        match content {
            Content::Task(task) => self.loaded.tasks.push(*task),
            Content::Timer(timer) => self.loaded.timers.push((timer.operation, timer.deadline)),
            Content::Row(row) => self.loaded.queue.push(*row),
            Content::Blocked(record) => self.loaded.blocked.push(record),
            Content::Key(key) => {
                self.keys.push(*key);
                if self.keys.len() >= PART_KEYS {
                    self.part_of_keys(parts)?;
                }
            }
            Content::Unit(generation, unit) => {
                self.reach(generation, parts)?;
                self.last = unit.last();
                self.events += 1 + unit.decisions.len();
                self.units.push(*unit);
            }
            Content::Attempt(generation, attempt) => {
                self.reach(generation, parts)?;
                self.events += 1;
                self.attempts.push(attempt);
            }
            Content::Head(_) | Content::Partial(_) | Content::Withdrawn => {}
        }
        if self.events >= PART_EVENTS {
            self.part(None, parts)?;
        }
        Ok(())
    }

    /// Lines of a generation follow: those before it are complete.
    fn reach(&mut self, generation: u64, parts: &mut Parts<'_>) -> Result<(), StoreError> {
        if generation > self.generation {
            self.part(Some(self.last), parts)?;
            (self.generation, self.last) = (generation, 0);
        }
        Ok(())
    }

    fn part(&mut self, end: Option<u64>, parts: &mut Parts<'_>) -> Result<(), StoreError> {
        self.events = 0;
        parts.hand_over(Restore::History {
            run: self.run.clone(),
            generation: self.generation,
            units: std::mem::take(&mut self.units),
            attempts: std::mem::take(&mut self.attempts),
            end,
        })
    }

    fn part_of_keys(&mut self, parts: &mut Parts<'_>) -> Result<(), StoreError> {
        parts.hand_over(Restore::Keys {
            run: self.run.clone(),
            keys: std::mem::take(&mut self.keys),
        })
    }

    fn finish(mut self, parts: &mut Parts<'_>) -> Result<(), StoreError> {
        if !self.keys.is_empty() {
            self.part_of_keys(parts)?;
        }
        if self.last > 0 && self.generation < self.loaded.head.generation {
            // The last one has begun, and that is all.
            self.part(Some(self.last), parts)?;
        } else if self.events > 0 {
            self.part(None, parts)?;
        }
        let Self { run, loaded, .. } = self;
        let loaded = Box::new(loaded);
        parts.hand_over(Restore::Run { run, loaded })
    }
}

/// Parts on their way into the store, in order. Several share a flush.
struct Parts<'a> {
    store: &'a dyn Store,
    answer: Sender<Result<Progress, StoreError>>,
    answers: Receiver<Result<Progress, StoreError>>,
    under_way: usize,
}

impl<'a> Parts<'a> {
    fn new(store: &'a dyn Store) -> Self {
        let (answer, answers) = channel();
        Self {
            store,
            answer,
            answers,
            under_way: 0,
        }
    }

    fn hand_over(&mut self, part: Restore) -> Result<(), StoreError> {
        let answer = self.answer.clone();
        self.store.restore(
            part,
            Box::new(move |result| {
                let _ = answer.send(result);
            }),
        );
        self.handed_over()
    }

    fn handed_over(&mut self) -> Result<(), StoreError> {
        self.under_way += 1;
        if self.under_way >= UNDER_WAY {
            self.wait()?;
        }
        Ok(())
    }

    fn program(&mut self, program: ProgramRecord) -> Result<(), StoreError> {
        let answer = self.answer.clone();
        self.store.record_program(
            program,
            Box::new(move |result| {
                let _ = answer.send(result.map(|()| Progress::Done));
            }),
        );
        self.handed_over()
    }

    fn wait(&mut self) -> Result<Progress, StoreError> {
        self.under_way -= 1;
        self.answers.recv().unwrap_or_else(|_| {
            Err(StoreError::Unknown {
                reason: "it did not answer".into(),
            })
        })
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        while self.under_way > 0 {
            self.wait()?;
        }
        Ok(())
    }

    /// Takes away what was handed over of a run.
    fn give_up(&mut self, run: &RunKey) -> Result<(), StoreError> {
        self.settle()?;
        loop {
            self.hand_over(Restore::GiveUp { run: run.clone() })?;
            match self.wait()? {
                Progress::More => {}
                Progress::Done => return Ok(()),
            }
        }
    }
}
