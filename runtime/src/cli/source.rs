//! Where runs are looked at: an export, a store that is stopped, a folder of histories.

use std::fmt;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use perennial::history::{History, NotAHistory};
use perennial::{RunKey, Timestamp};
use walkdir::WalkDir;

use super::judge::{Judge, Told};
use crate::engine::unreadable_history;
use crate::store::export::{self, Content, Reader, Step, Unreadable};
use crate::store::sled::{self, Options};
use crate::store::{Durability, Head, OpenError, SledStore, Store, StoreError, runs};

/// So many units of a store are read at once.
const PAGE: usize = 500;

/// Where runs are looked at.
#[derive(Debug)]
pub(super) enum Source<'a> {
    /// A store that the program has opened itself.
    Open(&'a dyn Store),
    /// The folder of a store, which is copied into the other folder.
    Folder { folder: PathBuf, scratch: PathBuf },
    /// An export.
    Export(PathBuf),
    /// A file with one history.
    History(PathBuf),
    /// A folder of histories and exports.
    Histories(PathBuf),
}

/// What cannot be looked at. Nothing is said of what it holds.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum SourceError {
    /// There is no such file or folder.
    Missing {
        /// Where.
        path: PathBuf,
    },
    /// An export cannot be read.
    Export(Unreadable),
    /// A store cannot be opened or copied.
    Open(OpenError),
    /// A store cannot be read.
    Store(StoreError),
    /// A file holds no history.
    History {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: NotAHistory,
    },
    /// No file in the folder ends in `.json` or `.jsonl`.
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// The system said no.
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        error: String,
    },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { path } => write!(
                f,
                "there is nothing at {}\n\n\
                 help: name an export, the folder of a store that is stopped, or a folder of histories",
                path.display()
            ),
            Self::Export(error) => error.fmt(f),
            Self::Open(OpenError::Held { folder, process }) => {
                let process =
                    process.map_or("another process".into(), |id| format!("process {id}"));
                write!(
                    f,
                    "the store {} is in use by {process}\n\n\
                     help: call `runtime.export(..)` in that program and look at the export, or stop the program",
                    folder.display()
                )
            }
            Self::Open(error) => error.fmt(f),
            Self::Store(error) => write!(f, "the store cannot be read: {error}"),
            Self::History { path, error } => write!(
                f,
                "{}: {error}\n\nhelp: `history.to_json()` writes such files; one that newer software has written \
                 may have events that are not known here",
                path.display()
            ),
            Self::Empty { folder } => write!(
                f,
                "{} has no histories: no file in it ends in `.json` or `.jsonl`\n\n\
                 help: name an export, the folder of a store that is stopped, or a folder of histories",
                folder.display()
            ),
            Self::Io { what, error } => write!(f, "{what}: {error}"),
        }
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SourceError {}

impl From<Unreadable> for SourceError {
    fn from(error: Unreadable) -> Self {
        Self::Export(error)
    }
}

impl From<OpenError> for SourceError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<StoreError> for SourceError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Source<'_> {
    /// What there is at a path. A store is copied into `scratch`.
    pub(super) fn at(path: &Path, scratch: &Path) -> Result<Self, SourceError> {
        let path = path.to_owned();
        Ok(if sled::is_store(&path) {
            let scratch = scratch.to_owned();
            let folder = path;
            Self::Folder { folder, scratch }
        } else if path.is_dir() {
            Self::Histories(path)
        } else if !path.exists() {
            return Err(SourceError::Missing { path });
        } else if ends_in(&path, "json") {
            Self::History(path)
        } else {
            Self::Export(path)
        })
    }

    /// What it is called.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Open(_) => "the store of this program".to_owned(),
            Self::Folder { folder, .. } => format!("the store {}", shown(folder)),
            Self::Export(path) => format!("the export {}", shown(path)),
            Self::History(path) => format!("the history {}", shown(path)),
            Self::Histories(folder) => format!("the histories in {}", shown(folder)),
        }
    }

    /// Tells all runs in it to the judge.
    pub(super) fn read<T: Told>(&self, judge: &mut Judge<'_, T>) -> Result<(), SourceError> {
        match self {
            Self::Open(store) => read_store(*store, judge),
            Self::Folder { folder, scratch } => {
                let copy = tempfile::Builder::new()
                    .prefix("perennial-plan-")
                    .tempdir_in(scratch)
                    .map_err(|error| SourceError::Io {
                        what: format!("making a folder in {} for a copy", scratch.display()),
                        error: error.to_string(),
                    })?;
                sled::copy(folder, copy.path())?;
                // What becomes of the copy when the power goes matters to nobody.
                let options: Options = SledStore::options().durability(Durability::Os).existing();
                let store = options
                    .open(copy.path())
                    .map_err(|error| of(folder, error))?;
                let read = read_store(&store, judge);
                store.close()?;
                read
            }
            Self::Export(path) => read_export(export::open(path)?, judge),
            Self::History(path) => read_history(path, judge),
            Self::Histories(folder) => {
                let files = histories(folder)?;
                if files.is_empty() {
                    let folder = folder.clone();
                    return Err(SourceError::Empty { folder });
                }
                files.iter().try_for_each(|file| read_file(file, judge))
            }
        }
    }
}

/// An error of the copy, with the name of what was copied.
fn of(store: &Path, mut error: OpenError) -> OpenError {
    match &mut error {
        OpenError::Held { folder, .. }
        | OpenError::NoStore { folder }
        | OpenError::Newer { folder, .. }
        | OpenError::Older { folder, .. }
        | OpenError::NoSync { folder, .. }
        | OpenError::Io { folder, .. } => *folder = store.to_owned(),
        OpenError::Damaged { folder, copy, .. } => {
            *folder = store.to_owned();
            // It goes with the copy.
            *copy = None;
        }
    }
    error
}

/// The files of histories in a folder and those within it, in the order of their names.
pub(super) fn histories(folder: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let walk = WalkDir::new(folder).follow_links(true).sort_by_file_name();
    let mut files = Vec::new();
    for entry in walk {
        let entry = entry.map_err(|error| SourceError::Io {
            what: format!("reading the folder {}", folder.display()),
            error: match error.io_error() {
                Some(error) => error.to_string(),
                None => error.to_string(),
            },
        })?;
        let path = entry.path();
        if !entry.file_type().is_dir() && (ends_in(path, "json") || ends_in(path, "jsonl")) {
            files.push(path.to_owned());
        }
    }
    Ok(files)
}

/// A file of [`histories`].
pub(super) fn read_file<T: Told>(path: &Path, judge: &mut Judge<'_, T>) -> Result<(), SourceError> {
    if ends_in(path, "json") {
        read_history(path, judge)
    } else {
        read_export(export::open(path)?, judge)
    }
}

fn read_history<T: Told>(path: &Path, judge: &mut Judge<'_, T>) -> Result<(), SourceError> {
    let text = fs::read_to_string(path).map_err(|error| SourceError::Io {
        what: format!("reading {}", path.display()),
        error: error.to_string(),
    })?;
    let history = History::from_json(&text).map_err(|error| SourceError::History {
        path: path.to_owned(),
        error,
    })?;
    // Nothing waits beside it.
    judge.as_of(None);
    judge.begin(history.run, None);
    for unit in history.units {
        judge.unit(history.generation, unit);
    }
    judge.finish();
    Ok(())
}

fn read_export<R: BufRead, T: Told>(
    mut reader: Reader<R>,
    judge: &mut Judge<'_, T>,
) -> Result<(), SourceError> {
    judge.as_of(Some(reader.begin().at));
    loop {
        match reader.step()? {
            Step::Program(program) => judge.program(*program),
            Step::Line(run, Content::Head(head)) => judge.begin(run, Some(&head)),
            Step::Line(run, Content::Partial(partial)) => judge.partial(run, partial.problems),
            Step::Line(_, Content::Row(row)) => judge.row(*row),
            Step::Line(_, Content::Blocked(record)) => judge.blocked(record),
            Step::Line(_, Content::Unit(generation, unit)) => judge.unit(generation, *unit),
            Step::Line(_, Content::Withdrawn) => judge.withdraw(),
            Step::Line(
                _,
                Content::Task(_)
                | Content::Timer(_)
                | Content::View(_)
                | Content::Key(_)
                | Content::Offer(_)
                | Content::Attempt(..),
            ) => {}
            Step::Done => judge.finish(),
            Step::End => return Ok(()),
        }
    }
}

fn read_store<T: Told>(store: &dyn Store, judge: &mut Judge<'_, T>) -> Result<(), SourceError> {
    judge.as_of(Some(Timestamp::from(SystemTime::now())));
    for program in store.programs()? {
        judge.program(program);
    }
    runs::each(store, |run, head| {
        judge.begin(run.clone(), Some(&head));
        if !head.status.is_finished()
            && let Some(loaded) = store.load(&run)?
        {
            loaded.queue.into_iter().for_each(|row| judge.row(row));
            let blocked = loaded.blocked.into_iter();
            blocked.for_each(|record| judge.blocked(record));
            read_units(store, &run, &head, judge)?;
        }
        judge.finish();
        Ok(())
    })
}

/// The history of a run that has not ended. One that cannot be read is that run's matter and no other's.
fn read_units<T: Told>(
    store: &dyn Store,
    run: &RunKey,
    head: &Head,
    judge: &mut Judge<'_, T>,
) -> Result<(), StoreError> {
    let mut next = 1;
    while next <= head.sequence {
        let page = match store.history(run, head.generation, next, PAGE) {
            Ok(page) if page.is_empty() => Err(StoreError::Gap {
                run: run.clone(),
                expected: next,
                found: None,
            }),
            page => page,
        };
        match page {
            Ok(page) => {
                for unit in page {
                    next = unit.last() + 1;
                    judge.unit(head.generation, unit);
                }
            }
            Err(error) => match unreadable_history(run, &head.workflow, head.sequence, &error) {
                Some(blocked) => {
                    judge.unreadable(blocked);
                    return Ok(());
                }
                None => return Err(error),
            },
        }
    }
    Ok(())
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// A path as it is shown: the same on each machine.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}
