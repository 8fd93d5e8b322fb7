//! What a person sees while a run is under way.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{DecimalBytes, HumanCount, ProgressBar, ProgressStyle};
use perennial::history::{Decision, History, Observation};
use perennial::{ActivityCx, RunId};

use super::{Copied, Page, StoredPath, Tally};

/// How it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As a bar that is drawn anew.
    Bar,
    /// As a line now and then.
    Lines,
    /// As a line for each step.
    Steps,
}

/// How long it is quiet between two lines.
const QUIET: Duration = Duration::from_secs(2);

/// How far the run of this program is. Activities tell it what they do; what was done before this process
/// is taken from the history.
///
/// It is only for people: nothing that a workflow decides depends on it.
#[derive(Debug)]
pub struct Progress {
    run: RunId,
    mode: Mode,
    bar: ProgressBar,
    /// Each copy is noted there, if somebody wants to know.
    log: Option<Mutex<fs::File>>,
    /// Bytes that were copied in batches that are not settled.
    flowing: AtomicU64,
    counts: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By operation, so that what is told and what is read from the history is counted once.
    listed: BTreeMap<u64, Tally>,
    listed_all: bool,
    settled: BTreeMap<u64, Settled>,
    shown: Option<(Instant, Counts)>,
}

#[derive(Clone, Copy, Debug)]
struct Settled {
    copied: Tally,
    in_place: Tally,
    here: bool,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What the source has, as far as it is listed.
    pub listed: Tally,
    /// Whether all of it is listed.
    pub listed_all: bool,
    /// What this process has copied.
    pub copied: Tally,
    /// What this process has found in the target.
    pub in_place: Tally,
    /// What had been recorded before this process.
    pub before: Tally,
}

impl Counts {
    /// What is in the target.
    #[must_use]
    pub fn done(&self) -> Tally {
        self.copied + self.in_place + self.before
    }
}

impl Progress {
    /// Follows the run, and notes each copy in the file `log`.
    ///
    /// # Errors
    ///
    /// When `log` cannot be opened.
    pub fn new(run: RunId, mode: Mode, log: Option<&Path>) -> io::Result<Self> {
        let log = log.map(|path| {
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .map(Mutex::new)
        });
        let bar = if mode == Mode::Bar {
            ProgressBar::new(0)
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template(
            "{bar:30} {decimal_bytes} of {decimal_total_bytes} · {msg}",
        ) {
            bar.set_style(style);
        }
        Ok(Self {
            run,
            mode,
            bar,
            log: log.transpose()?,
            flowing: AtomicU64::new(0),
            counts: Mutex::default(),
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is the run of this program; a store may have others, which go on beside it.
    fn follows(&self, acx: &ActivityCx) -> bool {
        acx.run().id == self.run
    }

    /// Writes a line for a person, above the bar if there is one. Nobody may be reading; that is no reason to
    /// stop.
    pub fn line(&self, text: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(io::stderr().lock(), "{text}");
        });
    }

    pub(super) fn listed(&self, acx: &ActivityCx, page: &Page) {
        if self.follows(acx) {
            self.inner().add_page(acx.operation().number, page);
            if self.mode == Mode::Steps {
                self.line(&format!("listed {} entries more", page.entries()));
            }
        }
    }

    pub(super) fn step(&self, acx: &ActivityCx, what: &str, path: &StoredPath) {
        if self.mode == Mode::Steps && self.follows(acx) {
            self.line(&format!("{what} {path}"));
        }
    }

    /// A file was put in place.
    pub(super) fn copied(&self, acx: &ActivityCx, path: &StoredPath) {
        if let Some(log) = &self.log {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            // In one piece, so that a kill leaves whole lines.
            if let Err(error) = log.write_all(format!("copied {path}\n").as_bytes()) {
                self.line(&format!(
                    "the copy of {path} could not be noted in the log: {error}"
                ));
            }
        }
        self.step(acx, "copied", path);
    }

    pub(super) fn flow(&self, acx: &ActivityCx) -> Flow<'_> {
        Flow {
            progress: self,
            operation: self.follows(acx).then(|| acx.operation().number),
            bytes: 0,
        }
    }

    /// Adds what the history records and nobody has told: what was done before this process.
    pub fn add_history(&self, history: &History) {
        let mut names = BTreeMap::new();
        let mut inner = self.inner();
        for unit in &history.units {
            if let Observation::ActivityCompleted { operation, result } = &unit.observation {
                match names.remove(operation) {
                    Some("list_page") => {
                        if let Ok(page) = result.decode::<Page>() {
                            inner.add_page(*operation, &page);
                        }
                    }
                    Some("copy_files") => {
                        if let Ok(Copied {
                            copied, in_place, ..
                        }) = result.decode()
                        {
                            let settled = Settled {
                                copied,
                                in_place,
                                here: false,
                            };
                            inner.settled.entry(*operation).or_insert(settled);
                        }
                    }
                    _ => {}
                }
            }
            for decision in &unit.decisions {
                if let Decision::ActivityScheduled {
                    operation, name, ..
                } = decision
                {
                    names.insert(*operation, name.as_ref());
                }
            }
        }
    }

    /// How far it is.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let inner = self.inner();
        let mut counts = Counts {
            listed_all: inner.listed_all,
            ..Counts::default()
        };
        inner
            .listed
            .values()
            .for_each(|tally| counts.listed += *tally);
        for settled in inner.settled.values() {
            if settled.here {
                counts.copied += settled.copied;
                counts.in_place += settled.in_place;
            } else {
                counts.before += settled.copied + settled.in_place;
            }
        }
        counts
    }

    /// Shows how far it is. To be called often; it does not write more than a person reads.
    pub fn show(&self) {
        let counts = self.counts();
        let done = counts.done();
        if self.mode == Mode::Bar {
            self.bar.set_length(counts.listed.bytes);
            self.bar
                .set_position(done.bytes + self.flowing.load(Ordering::Relaxed));
            self.bar.set_message(files(&counts));
            self.bar.tick();
            return;
        }
        let mut inner = self.inner();
        // Before there is something to tell the time runs too: a quick run writes no such line.
        let (at, last) = *inner.shown.get_or_insert((Instant::now(), counts));
        if at.elapsed() >= QUIET && (counts != last || at.elapsed() >= 5 * QUIET) {
            inner.shown = Some((Instant::now(), counts));
            drop(inner);
            let bytes = done.bytes + self.flowing.load(Ordering::Relaxed);
            self.line(&format!(
                "{}, {} of {}",
                files(&counts),
                DecimalBytes(bytes),
                DecimalBytes(counts.listed.bytes)
            ));
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn files(counts: &Counts) -> String {
    if !counts.listed_all {
        return format!("listing, {} files so far", HumanCount(counts.listed.files));
    }
    format!(
        "{} of {} files",
        HumanCount(counts.done().files),
        HumanCount(counts.listed.files)
    )
}

impl Inner {
    fn add_page(&mut self, operation: u64, page: &Page) {
        self.listed.insert(operation, page.tally());
        self.listed_all |= page.next.is_none();
    }
}

/// What a batch copies, shown before it is settled.
#[derive(Debug)]
pub(super) struct Flow<'a> {
    progress: &'a Progress,
    operation: Option<u64>,
    bytes: u64,
}

impl Flow<'_> {
    pub(super) fn add(&mut self, bytes: u64) {
        if self.operation.is_some() {
            self.bytes += bytes;
            self.progress.flowing.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// The batch is done.
    pub(super) fn settle(self, copied: Tally, in_place: Tally) {
        if let Some(operation) = self.operation {
            let settled = Settled {
                copied,
                in_place,
                here: true,
            };
            self.progress.inner().settled.insert(operation, settled);
        }
    }
}

impl Drop for Flow<'_> {
    fn drop(&mut self) {
        self.progress
            .flowing
            .fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
