//! What a salvage reads from: one of the copies of sled's file, and the journal behind it.

use std::fs::{self, File};
use std::ops::{Bound, RangeInclusive};
use std::path::{Path, PathBuf};

use ::sled::{Batch, Db};
use perennial::wire::RecordError;

use super::log::Log;
use super::runs::Tally;
use super::{Candidate, Differs, SalvageError};
use crate::store::StoreError;
use crate::store::sled::apply::Applied;
use crate::store::sled::journal::Rescued;
use crate::store::sled::overlay::Overlay;
use crate::store::sled::state::State;
use crate::store::sled::tally::Tallies;
use crate::store::sled::{check, folder, keys, taken, value};

/// Where sled's file may be, the one that it works with first, and what a salvage calls it.
pub(super) fn files(store: &Path) -> Vec<(&'static str, PathBuf)> {
    let all = [
        ("sled/db", folder::db(store)),
        ("db.under-recovery", folder::under_recovery(store)),
        ("db.before-recovery", folder::before_recovery(store)),
    ];
    all.into_iter().filter(|(_, path)| path.is_file()).collect()
}

/// A folder that goes when the salvage does.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) folder: PathBuf,
}

impl Scratch {
    /// Makes one in `folder`, where so many bytes must be free.
    pub(super) fn make(folder: &Path, needed: u64) -> Result<Self, SalvageError> {
        let io = SalvageError::io("making a folder for what is read");
        let number = getrandom::u64().map_err(|error| io(&error))?;
        if let Some(free) = folder::room(folder).filter(|free| *free < needed) {
            return Err(SalvageError::NoRoom {
                folder: folder.into(),
                needed,
                free,
            });
        }
        let folder = folder.join(format!("perennial-salvage-{number:016x}"));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|error| io(&error))?;
        Ok(Self { folder })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// How much space the records of a file may take when they are put into a sled of their own.
pub(super) fn space(length: u64) -> u64 {
    // A file is about as large as what was ever alive in it at a time.
    length.saturating_mul(2).saturating_add(folder::SPARE)
}

/// One of the copies, read into a sled that is whole.
pub(super) struct Source {
    pub(super) overlay: Overlay,
    pub(super) candidate: Candidate,
    /// Commits that were in neither the file nor the journal: from, to.
    pub(super) lost: Vec<(u64, u64)>,
    /// Kinds of records of which there are others than there should be.
    pub(super) differs: Vec<Differs>,
    /// Before the sled in it goes.
    db: Option<Db>,
    _scratch: Scratch,
}

impl Source {
    /// Reads a copy, or none, and puts the journal above it.
    pub(super) fn read(
        file: Option<(&'static str, &Path)>,
        journal: &Rescued,
        state: Option<&State>,
        scratch: &Path,
    ) -> Result<Self, SalvageError> {
        let length = file.map_or(0, |(_, path)| {
            fs::metadata(path).map_or(0, |found| found.len())
        });
        let scratch = Scratch::make(scratch, space(length))?;
        let config = ::sled::Config::new()
            .path(&scratch.folder)
            .cache_capacity(128 << 20)
            .flush_every_ms(None);
        let db = config
            .open()
            .map_err(|error| SalvageError::io("keeping what is read")(&error))?;
        let mut candidate = Candidate {
            file: file.map(|(name, _)| name),
            ..Candidate::default()
        };
        if let Some((_, path)) = file {
            fill(&db, path, &mut candidate)?;
        }
        let applied = db.get(keys::APPLIED).ok().flatten();
        let applied = applied.and_then(|value| Applied::decode(&value).ok());
        if let Some(applied) = applied {
            candidate.applied = applied.commit;
        }
        let overlay = Overlay::new(db.clone());
        let first = first_shown(journal, candidate.applied);
        let mut differs = Vec::new();
        let taken = state.map_or(0, |state| state.taken);
        show(&overlay, journal, first..=taken);
        if let Some(state) = state {
            differs = compare(&overlay, state)?;
        }
        show(&overlay, journal, first.max(taken + 1)..=u64::MAX);
        let acknowledged = state.map_or(0, |state| state.commit.max(state.taken));
        let lost = lost(journal, candidate.applied, acknowledged);
        Ok(Self {
            overlay,
            candidate,
            lost,
            differs,
            db: Some(db),
            _scratch: scratch,
        })
    }

    /// How many runs there should be; `None`: the record of that is lost.
    pub(super) fn expected_runs(&self, tally: &Tally) -> Result<Option<u64>, StoreError> {
        self.overlay.read(|view| {
            Ok(match view.get(keys::RUNS)? {
                Some(_) => check::runs(view).ok(),
                // A store that never had a run has no such record.
                None if tally.whole == 0 && tally.partial.is_empty() => Some(0),
                None => None,
            })
        })
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.overlay.close("the salvage is over");
        drop(self.db.take());
    }
}

/// Puts the records of a file into `db`.
fn fill(db: &Db, path: &Path, candidate: &mut Candidate) -> Result<(), SalvageError> {
    let io = SalvageError::io("reading sled's file");
    let file = File::open(path).map_err(|error| io(&error))?;
    let length = file.metadata().map_err(|error| io(&error))?.len();
    let log = Log::read(&file, length);
    candidate.unreadable = log.lost;
    let keep = SalvageError::io("keeping what is read");
    let (mut batch, mut bytes) = (Batch::default(), 0);
    for messages in log.pages.values() {
        let leaf = log.leaf(&file, messages);
        candidate.pages_lost += u64::from(leaf.lost);
        for (key, found) in leaf.entries {
            let commit = commit_of(&found);
            // Where the record of it is lost: it had this one at least.
            candidate.applied = candidate.applied.max(commit.unwrap_or(0));
            // Where an old page has come back, the newer record counts.
            let there = db.get(&key).map_err(|error| keep(&error))?;
            if there.is_some_and(|there| commit_of(&there) >= commit) {
                continue;
            }
            bytes += key.len() + found.len();
            batch.insert(key, found);
        }
        if bytes > 256 << 10 {
            let full = std::mem::take(&mut batch);
            db.apply_batch(full).map_err(|error| keep(&error))?;
            bytes = 0;
        }
    }
    db.apply_batch(batch).map_err(|error| keep(&error))
}

/// The commit that wrote a record; `None` where that cannot be told.
fn commit_of(record: &[u8]) -> Option<u64> {
    let opened: Result<_, RecordError> = value::opened(record, u8::MAX);
    opened.ok().map(|opened| opened.commit)
}

/// Where the journal is to be shown from. What sled has taken over already is shown again, as far back as
/// nothing is missing: where sled lost something since, here it is.
fn first_shown(journal: &Rescued, applied: u64) -> u64 {
    let mut first = applied + 1;
    while first > 1 && journal.commits.contains_key(&(first - 1)) {
        first -= 1;
    }
    first
}

/// Shows commits of the journal above what was read.
fn show(overlay: &Overlay, journal: &Rescued, commits: RangeInclusive<u64>) {
    if commits.is_empty() {
        return;
    }
    for (&commit, changed) in journal.commits.range(commits) {
        overlay.show(commit, changed.clone());
    }
}

/// The commits that are in neither: the first and the last of each row.
fn lost(journal: &Rescued, applied: u64, acknowledged: u64) -> Vec<(u64, u64)> {
    let mut lost = Vec::new();
    let mut expected = applied + 1;
    for &commit in journal.commits.range(expected..).map(|(commit, _)| commit) {
        if commit > expected {
            lost.push((expected, commit - 1));
        }
        expected = commit + 1;
    }
    let last = journal.last.max(acknowledged);
    if expected <= last {
        lost.push((expected, last));
    }
    lost
}

/// Counts what there is, and holds it against what sled had taken over.
fn compare(overlay: &Overlay, state: &State) -> Result<Vec<Differs>, StoreError> {
    let mut found = Tallies::default();
    overlay.read(|view| {
        for entry in view.range(Bound::Unbounded, Bound::Unbounded) {
            let (key, value) = entry?;
            taken::count(&mut found, &key, &value);
        }
        Ok(())
    })?;
    let differences = state.tallies.differences(&found);
    let differs = differences.map(|(_, difference)| Differs {
        kind: difference.what,
        had: difference.had,
        found: difference.found,
    });
    Ok(differs.collect())
}
