//! Reading what can be read of a store that is damaged, into an export. Nothing in its folder is changed.
//!
//! sled is not asked: of a file that is damaged it makes less than there is, and it changes what it opens.
//! Its file is read [page by page](log), and so are the copies that were made of it before it was opened
//! after a crash; the journal is read frame by frame. What the two give is put together in a scratch folder
//! and looked at run by run.

mod error;
mod found;
mod log;
mod runs;
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use perennial::Timestamp;

pub use error::SalvageError;

use super::lock::{self, NotLocked};
use super::state::{FORMAT, State};
use super::{check, folder, journal, programs};
use crate::store::export::{Exported, NewFile, PartialRun, Writer};
use runs::Tally;
use source::Source;

/// How a store is salvaged.
#[derive(Clone, Debug, Default)]
pub struct Salvage {
    scratch: Option<PathBuf>,
    file: Option<String>,
}

/// What a salvage found, and what it wrote.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Salvaged {
    /// What was written.
    pub exported: Exported,
    /// The copy of sled's file that was read; `None`: there was none, or none gave anything.
    pub file: Option<&'static str>,
    /// All copies that were looked at.
    pub candidates: Vec<Candidate>,
    /// The runs that are not whole.
    pub partial: Vec<PartialRun>,
    /// Runs that are whole, but stand where they stood some time ago, or lack something that nothing depends
    /// on.
    pub reduced: Vec<PartialRun>,
    /// Commits that were acknowledged and are in no copy and not in the journal: the first and the last of
    /// each row. What they changed is not known; a run that they changed may stand where it stood before.
    pub lost_commits: Vec<(u64, u64)>,
    /// Kinds of records of which there are others than the store must have.
    pub differs: Vec<Differs>,
    /// The file that says how many records there must be is lost.
    pub unchecked: bool,
    /// How many runs there should be; `None`: the record of that is lost.
    pub expected_runs: Option<u64>,
    /// The journal is missing or was cut short, so that it is not known what was at its end.
    pub short_journal: bool,
    /// What is wrong with the records.
    pub damages: Damages,
    /// What is wrong with the files, in words.
    pub problems: Vec<String>,
    /// Runs of which an import was under way when the program ended. They are left out.
    pub restoring: u64,
}

/// A copy of sled's file that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// Its name in the store's folder; `None`: no copy, the journal alone.
    pub file: Option<&'static str>,
    /// The last commit that it had taken over from the journal; 0: none.
    pub applied: u64,
    /// How many runs are whole with it.
    pub whole: u64,
    /// How many are not.
    pub partial: u64,
    /// How many bytes of it could not be understood.
    pub unreadable: u64,
    /// How many of its pages were incomplete.
    pub pages_lost: u64,
}

/// Records of a kind, of which there are others than the store must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Differs {
    /// What they are, in the plural.
    pub kind: &'static str,
    /// How many there were.
    pub had: u64,
    /// How many there are. Where that is the same number, some are not what was last written.
    pub found: u64,
}

/// Records that are damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damages {
    /// How many of each kind.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Which, and how, at most [`Damages::MAX_TOLD`] of them.
    pub told: Vec<String>,
}

impl Damages {
    /// So many are told.
    pub const MAX_TOLD: usize = 1_000;

    fn note(&mut self, key: &[u8], text: String) {
        let kind = check::kind_name(key.first().copied().unwrap_or_default());
        *self.kinds.entry(kind).or_default() += 1;
        if self.told.len() < Self::MAX_TOLD {
            self.told.push(text);
        }
    }

    /// How many there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.kinds.values().sum()
    }
}

impl Salvaged {
    /// Whether nothing is known to be missing in the export. Problems with files need not mean that something
    /// is lost.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let runs = self.exported.counts.runs;
        self.partial.is_empty()
            && self.reduced.is_empty()
            && self.lost_commits.is_empty()
            && self.differs.is_empty()
            && self.expected_runs.is_some_and(|expected| expected <= runs)
            && !self.short_journal
    }

    /// How many runs are missing altogether.
    #[must_use]
    pub fn missing_runs(&self) -> u64 {
        let counts = &self.exported.counts;
        let found = counts.runs + counts.partial;
        self.expected_runs.unwrap_or(0).saturating_sub(found)
    }
}

impl Salvage {
    /// Puts what is read into a folder of its own in this one, for as long as the salvage takes. By default in
    /// the folder of the export.
    #[must_use]
    pub fn scratch(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scratch = Some(folder.into());
        self
    }

    /// Reads this copy of sled's file: `sled/db`, `db.under-recovery` or `db.before-recovery`. By default
    /// `sled/db` where nothing is lost in it, and otherwise the one that gives the most runs.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>) -> Self {
        self.file = Some(name.into());
        self
    }

    /// Writes what can be read of the store in `store` to a new export at `to`.
    ///
    /// # Errors
    ///
    /// [`SalvageError`]: nothing is written then.
    pub fn run(
        &self,
        store: impl AsRef<Path>,
        to: impl AsRef<Path>,
        at: Timestamp,
    ) -> Result<Salvaged, SalvageError> {
        let (store, to) = (store.as_ref(), to.as_ref());
        if !folder::is_store(store) {
            return Err(SalvageError::NoStore {
                folder: store.into(),
            });
        }
        let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
        let beside = parent.unwrap_or(Path::new("."));
        let scratch = self.scratch.as_deref().unwrap_or(beside);
        refuse_inside(store, beside, to)?;
        refuse_inside(store, scratch, scratch)?;
        // It need not have a lock, but who has it must not be writing.
        let _hold = lock::hold(store).map_err(|error| match error {
            NotLocked::Held(process) => SalvageError::Held {
                folder: store.into(),
                process,
            },
            NotLocked::Io(error) => SalvageError::io("looking at `perennial.lock`")(&error),
        })?;
        let out = NewFile::create(to)?;
        let mut problems = Vec::new();
        let state = match State::read(store) {
            Ok(Some(state)) if state.format == FORMAT => Some(state),
            Ok(Some(state)) => {
                return Err(SalvageError::Layout {
                    folder: store.into(),
                    format: state.format,
                    understood: FORMAT,
                });
            }
            Ok(None) => {
                problems.push("`perennial.state` is missing".to_owned());
                None
            }
            Err(error) => {
                problems.push(format!("`perennial.state`: {error}"));
                None
            }
        };
        let journal = journal::rescue(&journal::folder(store))
            .map_err(|error| SalvageError::io("reading the journal")(&error))?;
        problems.extend(journal.problems.iter().cloned());
        let look = Look {
            store,
            scratch,
            journal: &journal,
            state: state.as_ref(),
        };
        let (best, candidates) = look.best(self.file.as_deref())?;
        let (tally, out, exported) = write(&best, out, at)?;
        let expected_runs = best.expected_runs(&tally)?;
        out.finish()?;
        Ok(Salvaged {
            exported,
            file: best.candidate.file,
            candidates,
            partial: tally.partial,
            reduced: tally.reduced,
            lost_commits: best.lost.clone(),
            differs: best.differs.clone(),
            unchecked: state.is_none(),
            expected_runs,
            short_journal: journal.is_short,
            damages: tally.damages,
            problems,
            restoring: tally.restoring,
        })
    }
}

/// Nothing in the store's folder is changed.
fn refuse_inside(store: &Path, place: &Path, shown: &Path) -> Result<(), SalvageError> {
    let absolute = |path: &Path| {
        fs::canonicalize(path)
            .map_err(|error| SalvageError::io(format!("looking at {}", path.display()))(&error))
    };
    if absolute(place)?.starts_with(absolute(store)?) {
        return Err(SalvageError::Inside {
            folder: store.into(),
            place: shown.into(),
        });
    }
    Ok(())
}

/// What a source is looked at with.
struct Look<'a> {
    store: &'a Path,
    scratch: &'a Path,
    journal: &'a journal::Rescued,
    state: Option<&'a State>,
}

impl Look<'_> {
    /// The copy that gives the most, and all that were looked at.
    fn best(&self, asked: Option<&str>) -> Result<(Source, Vec<Candidate>), SalvageError> {
        let files = source::files(self.store);
        let files: Vec<_> = match asked {
            None => files,
            Some(asked) => {
                let found: Vec<_> = files
                    .into_iter()
                    .filter(|(name, _)| *name == asked)
                    .collect();
                if found.is_empty() {
                    return Err(SalvageError::NoFile {
                        folder: self.store.into(),
                        file: asked.into(),
                    });
                }
                found
            }
        };
        let mut best: Option<Source> = None;
        let mut candidates = Vec::new();
        for (name, path) in &files {
            let (found, is_whole) = self.read(Some((name, path)))?;
            candidates.push(found.candidate.clone());
            let gives = |source: &Source| (source.candidate.whole, source.candidate.applied);
            if best.as_ref().is_none_or(|best| gives(&found) > gives(best)) {
                best = Some(found);
            }
            if is_whole {
                break;
            }
        }
        let best = match best {
            Some(best) => best,
            None => {
                let (found, _) = self.read(None)?;
                candidates.push(found.candidate.clone());
                found
            }
        };
        Ok((best, candidates))
    }

    /// Reads a copy, and says whether nothing is lost with it.
    fn read(&self, file: Option<(&'static str, &Path)>) -> Result<(Source, bool), SalvageError> {
        let mut source = Source::read(file, self.journal, self.state, self.scratch)?;
        let (tally, _, _) = write(&source, std::io::sink(), Timestamp::default())?;
        source.candidate.whole = tally.whole;
        source.candidate.partial = tally.partial.len() as u64;
        let expected = source.expected_runs(&tally)?;
        let is_whole = tally.partial.is_empty()
            && tally.reduced.is_empty()
            && source.lost.is_empty()
            && source.differs.is_empty()
            && expected.is_some_and(|expected| expected <= tally.whole);
        Ok((source, is_whole))
    }
}

/// Writes all programs and runs of a source.
fn write<W: Write>(
    source: &Source,
    out: W,
    at: Timestamp,
) -> Result<(Tally, W, Exported), SalvageError> {
    let mut tally = Tally::default();
    let mut writer = Writer::begin(out, at)?;
    let runs = source.overlay.read(|view| runs::survey(view, &mut tally))?;
    writer.programs(source.overlay.read(programs::readable)?)?;
    for run in &runs {
        let written = source
            .overlay
            .read(|view| Ok(runs::write(view, run, &mut writer, &mut tally)))?;
        written?;
    }
    let (out, exported) = writer.end()?;
    Ok((tally, out, exported))
}
