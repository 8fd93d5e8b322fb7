//! Compaction: sled's files never get smaller, so a store is made anew from what is alive in it.
//!
//! | step | what a kill there leaves |
//! |---|---|
//! | the new store is made in `<folder>.compacting` and checked | that folder, which the next compaction deletes |
//! | it is renamed to `<folder>.before-compact` | two stores that hold the same |
//! | the two are exchanged, in one step | the same, under their right names |
//! | the old one is deleted, if that was asked for, as `<folder>.discarded` | what is left of it, deleted by the next compaction |
//!
//! So the store is whole under its name at every point. Nobody can open the old one before the new one has
//! taken its place: it is held.

use std::fmt;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::fresh::{Fresh, beside, io, remove_leftover, sync_parent};
use super::lock::{Lock, NotLocked};
use super::stat::Disk;
use super::state::State;
use super::{OpenError, SledStore, folder, journal};
use crate::store::export::{self, Counts, ExportError, Exported, ImportError, PartialRuns, Reader};
use crate::store::{Store as _, StoreError};
use perennial::Timestamp;

/// What a compaction came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// What is in the store.
    pub counts: Counts,
    /// What it took on the disk before, in bytes.
    pub before: u64,
    /// What it takes now.
    pub after: u64,
    /// Where the old store is; `None`: it was deleted.
    pub old: Option<PathBuf>,
}

/// Why a store was not compacted. It is as it was.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum CompactError {
    /// It could not be opened.
    Open(OpenError),
    /// It could not be read.
    Export(ExportError),
    /// The new one could not be made.
    Import(ImportError),
    /// The old store of an earlier compaction is still there.
    Exists {
        /// Where.
        old: PathBuf,
    },
    /// There is too little space beside it.
    NoRoom {
        /// The store's folder.
        folder: PathBuf,
        /// How much a new store may take, in bytes.
        needed: u64,
        /// How much is free, in bytes.
        free: u64,
    },
    /// Somebody used the store meanwhile.
    Used {
        /// The store's folder.
        folder: PathBuf,
    },
    /// The new store could not take the place of the old one.
    NotExchanged {
        /// The store's folder.
        folder: PathBuf,
        /// What the system said.
        error: String,
    },
}

/// Makes the store in `folder` anew, so that it takes no more space than it needs. Nobody may have it open.
/// The old one is kept as `<folder>.before-compact`, or deleted.
///
/// # Errors
///
/// [`CompactError`]; the store is as it was then.
pub fn compact(folder: impl AsRef<Path>, discard_old: bool) -> Result<Compacted, CompactError> {
    let folder = folder.as_ref();
    let place = place(folder)?;
    let folder = &*place;
    let [fresh, old, discarded] =
        ["compacting", "before-compact", "discarded"].map(|ending| beside(folder, ending));
    if fs::symlink_metadata(&old).is_ok() {
        return Err(CompactError::Exists { old });
    }
    let store = SledStore::open_existing(folder)?;
    remove_leftover(&discarded)?;
    let stat = store.stat()?;
    check_room(folder, &stat.disk, stat.live())?;
    let fresh = Fresh::begin(fresh)?;
    let exported = copy(&store, fresh.store()?)?;
    let complete = fresh.complete(&exported.counts)?;
    store.close()?;
    drop(store);
    let lock = hold(folder, stat.commit)?;
    complete.name(&old)?;
    if let Err(error) = exchange(folder, &old) {
        let _ = fs::remove_dir_all(&old);
        return Err(CompactError::NotExchanged {
            folder: folder.into(),
            error: error.to_string(),
        });
    }
    sync_parent(folder).map_err(io("making the names durable"))?;
    drop(lock);
    let after = folder::on_disk(folder).map_err(io("looking at the new store"))?;
    if discard_old {
        // Under its name there must be nothing that is half there.
        let removed = fs::rename(&old, &discarded).and_then(|()| fs::remove_dir_all(&discarded));
        removed.map_err(io(format!("deleting {}", discarded.display())))?;
    }
    Ok(Compacted {
        counts: exported.counts,
        before: stat.disk.total,
        after,
        old: (!discard_old).then_some(old),
    })
}

/// The folder under a name of its own: a link to it is not what is exchanged, and `.` has no name to put an
/// ending to.
fn place(folder: &Path) -> Result<PathBuf, CompactError> {
    let is_link = fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink());
    if !is_link && folder.file_name().is_some() {
        return Ok(folder.into());
    }
    fs::canonicalize(folder).map_err(|_| {
        CompactError::Open(OpenError::NoStore {
            folder: folder.into(),
        })
    })
}

/// Whether there is space for a new store beside the old one: for what is alive, as sled writes it, but hardly
/// more than it takes now, and for the journal that it is filled through.
fn check_room(folder: &Path, disk: &Disk, live: u64) -> Result<(), CompactError> {
    const SPREAD: u64 = 5;
    let sled = live.saturating_mul(SPREAD).min(disk.sled.max(live));
    let needed = sled + 3 * journal::SEGMENT + folder::SPARE;
    let parent = folder.parent().unwrap_or(folder);
    match folder::room(parent) {
        Some(free) if free < needed => Err(CompactError::NoRoom {
            folder: folder.into(),
            needed,
            free,
        }),
        _ => Ok(()),
    }
}

/// Exports one store into the other, through a pipe: what arrives is checked like an export in a file.
fn copy(from: &SledStore, to: &SledStore) -> Result<Exported, CompactError> {
    let (read, write) = std::io::pipe().map_err(io("making a pipe"))?;
    std::thread::scope(|threads| {
        let exporting = threads.spawn(move || {
            let write = std::io::BufWriter::with_capacity(1 << 16, write);
            export::export(from, write, Timestamp::default())
        });
        let imported = Reader::new(BufReader::with_capacity(1 << 16, read), "the old store")
            .map_err(ImportError::from)
            .and_then(|mut reader| export::import(&mut reader, to, PartialRuns::Refuse));
        let exported = exporting.join();
        match (exported, imported) {
            (Ok(Ok(exported)), Ok(_)) => Ok(exported),
            // What was not taken makes the other side fail too.
            (_, Err(error @ (ImportError::Store(_) | ImportError::Io { .. }))) => Err(error.into()),
            (Ok(Err(error)), _) => Err(CompactError::Export(error)),
            (_, Err(error)) => Err(error.into()),
            (Err(panic), Ok(_)) => std::panic::resume_unwind(panic),
        }
    })
}

/// Holds the old store, if it is still as it was read.
fn hold(folder: &Path, commit: u64) -> Result<Lock, CompactError> {
    let used = || CompactError::Used {
        folder: folder.into(),
    };
    let lock = Lock::acquire(folder).map_err(|error| match error {
        NotLocked::Held(_) => used(),
        NotLocked::Io(error) => io("locking the old store")(error).into(),
    })?;
    match State::read(folder) {
        Ok(Some(state)) if state.clean && state.commit == commit => Ok(lock),
        _ => Err(used()),
    }
}

/// Exchanges the names of two folders in one step.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_one: &Path, _other: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

impl fmt::Display for CompactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Export(error) => error.fmt(f),
            Self::Import(error) => error.fmt(f),
            Self::Exists { old } => write!(
                f,
                "the store of an earlier compaction is still at {}\n\n\
                 help: delete it, or give it another name",
                old.display()
            ),
            Self::NoRoom {
                folder,
                needed,
                free,
            } => write!(
                f,
                "there is too little space beside {}: a new store may take {} MiB, and {} MiB are free\n\n\
                 help: nothing was changed; make room, or export the store to another disk and import it from \
                 there",
                folder.display(),
                needed.div_ceil(1 << 20),
                free >> 20
            ),
            Self::Used { folder } => write!(
                f,
                "the store {} was used by another process meanwhile, so it was not compacted\n\n\
                 help: nothing was changed; stop the programs that open it, and compact it again",
                folder.display()
            ),
            Self::NotExchanged { folder, error } => write!(
                f,
                "the new store could not take the place of {} in one step: {error}\n\n\
                 help: nothing was changed; export it and import it into another folder instead",
                folder.display()
            ),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for CompactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CompactError {}

impl From<OpenError> for CompactError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<ImportError> for CompactError {
    fn from(error: ImportError) -> Self {
        Self::Import(error)
    }
}

/// Of the old store.
impl From<StoreError> for CompactError {
    fn from(error: StoreError) -> Self {
        Self::Export(ExportError::Store(error))
    }
}
