//! A new store in the place where one is to be: it is made in a folder beside, held against what it was made
//! from, and gets its name when it is complete. What a process before has left half-made is deleted.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::lock::{Lock, NotLocked};
use super::{Durability, OpenError, SledStore, folder};
use crate::store::Store as _;
use crate::store::export::{self, Contents, Counts, ImportError, Imported, PartialRuns};

/// Makes a store in `folder` out of the export in a file. The folder must not be there, or be empty.
///
/// The store is made in `<folder>.importing` and has its name when it is complete and on the device; when
/// this fails, nothing is left.
///
/// # Errors
///
/// [`ImportError`].
pub fn import(
    export: impl AsRef<Path>,
    folder: impl AsRef<Path>,
    partial: PartialRuns,
) -> Result<Imported, ImportError> {
    let (export, folder) = (export.as_ref(), folder.as_ref());
    refuse_existing(folder)?;
    // Before anything is made: whatever is wrong with it, nothing of it is used.
    let contents = Contents::read(export::open(export)?)?;
    if partial == PartialRuns::Refuse
        && let Some(first) = contents.partial.first()
    {
        return Err(ImportError::Partial {
            runs: contents.partial.len() as u64,
            run: first.run.clone(),
        });
    }
    let fresh = Fresh::begin(beside(folder, "importing"))?;
    let mut reader = export::open(export)?;
    let imported = export::import(&mut reader, fresh.store()?, partial)?;
    let complete = fresh.complete(&imported.counts)?;
    refuse_existing(folder)?;
    complete.name(folder)?;
    Ok(imported)
}

/// The folder of this name with an ending.
pub(super) fn beside(folder: &Path, ending: &str) -> PathBuf {
    // Without a separator at its end.
    let mut name = OsString::from(folder.components().as_path());
    name.push(".");
    name.push(ending);
    name.into()
}

/// An empty folder may become a store.
pub(super) fn refuse_existing(folder: &Path) -> Result<(), ImportError> {
    let exists = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => fs::symlink_metadata(folder).is_ok(),
    };
    if exists {
        return Err(ImportError::Exists {
            folder: folder.into(),
        });
    }
    Ok(())
}

pub(super) fn io<E: std::fmt::Display>(what: impl Into<String>) -> impl FnOnce(E) -> ImportError {
    let what = what.into();
    move |error| ImportError::Io {
        what,
        error: error.to_string(),
    }
}

/// A store that is being made. It is deleted, unless it becomes complete.
#[derive(Debug)]
pub(super) struct Fresh {
    folder: PathBuf,
    store: Option<SledStore>,
    keep: bool,
}

impl Fresh {
    pub(super) fn begin(folder: PathBuf) -> Result<Self, ImportError> {
        remove_leftover(&folder)?;
        // Nothing in it counts before it is complete, so nothing in it need be on the device before.
        let store = SledStore::options()
            .durability(Durability::Os)
            .open(&folder)
            .map_err(ImportError::Open)?;
        Ok(Self {
            folder,
            store: Some(store),
            keep: false,
        })
    }

    pub(super) fn store(&self) -> Result<&SledStore, ImportError> {
        self.store.as_ref().ok_or_else(|| ImportError::Differs {
            problem: "it was closed".into(),
        })
    }

    /// Closes it, opens it as others will, and holds all of it against what it must have.
    pub(super) fn complete(mut self, counts: &Counts) -> Result<Complete, ImportError> {
        if let Some(store) = self.store.take() {
            store.close()?;
        }
        let store = SledStore::open_existing(&self.folder).map_err(ImportError::Open)?;
        let report = store.verify()?;
        if let Some(problem) = report.problems.into_iter().next() {
            return Err(ImportError::Store(problem));
        }
        let pairs = [
            ("programs", report.programs, counts.programs),
            ("runs", report.runs, counts.runs),
            ("generations", report.generations, counts.generations),
            ("units", report.units, counts.units),
            ("events", report.events, counts.events),
            ("idempotency keys", report.keys, counts.keys),
            ("offers", report.offers, counts.offers),
        ];
        for (what, found, expected) in pairs {
            if found != expected {
                return Err(ImportError::Differs {
                    problem: format!("it has {found} {what}, not {expected}"),
                });
            }
        }
        store.close()?;
        drop(store);
        folder::sync_all(&self.folder).map_err(io("making the new store durable"))?;
        self.keep = true;
        Ok(Complete {
            folder: self.folder.clone(),
            keep: false,
        })
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        drop(self.store.take());
        if !self.keep {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// A store that is complete, closed and on the device. It is deleted, unless it gets a name.
#[derive(Debug)]
pub(super) struct Complete {
    folder: PathBuf,
    keep: bool,
}

impl Complete {
    /// Gives it its name.
    pub(super) fn name(mut self, folder: &Path) -> Result<(), ImportError> {
        let named = fs::rename(&self.folder, folder).and_then(|()| sync_parent(folder));
        named.map_err(io(format!("giving {} its name", folder.display())))?;
        self.keep = true;
        Ok(())
    }
}

impl Drop for Complete {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Makes the name of a folder durable.
pub(super) fn sync_parent(path: &Path) -> std::io::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    folder::sync(parent.unwrap_or(Path::new(".")))
}

/// Deletes what a process before has left, if it is ours and nobody works on it.
pub(super) fn remove_leftover(folder: &Path) -> Result<(), ImportError> {
    if fs::symlink_metadata(folder).is_err() {
        return Ok(());
    }
    if !folder.is_dir() || !folder::holds_nothing_else(folder) {
        return Err(ImportError::Exists {
            folder: folder.into(),
        });
    }
    let lock = Lock::acquire(folder).map_err(|error| match error {
        NotLocked::Held(process) => ImportError::Open(OpenError::Held {
            folder: folder.into(),
            process,
        }),
        NotLocked::Io(error) => io(format!("locking {}", folder.display()))(error),
    })?;
    let removed = fs::remove_dir_all(folder);
    drop(lock);
    removed.map_err(io(format!("removing {}", folder.display())))
}
