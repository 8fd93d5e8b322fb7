//! `perennial.lock`: held while a store is open, with the number of the process that holds it. sled has a
//! lock of its own, but says only that it would have to wait.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the process before may take to let go.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

#[derive(Debug)]
pub(super) enum NotLocked {
    /// By a living process, with its number where it can be read.
    Held(Option<u32>),
    Io(io::Error),
}

pub(super) fn path(store: &Path) -> PathBuf {
    store.join("perennial.lock")
}

impl Lock {
    pub(super) fn acquire(store: &Path) -> Result<Self, NotLocked> {
        let path = path(store);
        let start = Instant::now();
        let file = loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path);
            let file = file.map_err(NotLocked::Io)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => break file,
                // Between the two steps another store took the place of this one.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    // One that is letting go has taken its number out already.
                    let holder = fs::read_to_string(&path).ok();
                    let pid = holder.as_deref().and_then(|text| text.trim().parse().ok());
                    let leaving = holder.is_some_and(|text| text.trim().is_empty());
                    if !leaving || start.elapsed() > PATIENCE {
                        return Err(NotLocked::Held(pid));
                    }
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::Error(error)) => return Err(NotLocked::Io(error)),
            }
        };
        let mut lock = Self { file };
        lock.write(&format!("{}\n", std::process::id()))
            .map_err(NotLocked::Io)?;
        Ok(lock)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        io::Seek::rewind(&mut self.file)?;
        self.file.write_all(text.as_bytes())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A file descriptor may live on for a moment in a child process that is being started.
        let _ = self.write("");
        let _ = self.file.unlock();
    }
}

/// Whether a file that was opened at a path is still the one there.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    match (file.metadata(), fs::metadata(path)) {
        (Ok(file), Ok(there)) => (file.dev(), file.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// Keeps others from opening a store without changing anything in it. `None`: it has no lock to hold.
pub(super) fn hold(store: &Path) -> Result<Option<Hold>, NotLocked> {
    let path = path(store);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(NotLocked::Io(error)),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(Hold { file })),
        Err(TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(&path).ok();
            Err(NotLocked::Held(
                holder.and_then(|text| text.trim().parse().ok()),
            ))
        }
        Err(TryLockError::Error(error)) => Err(NotLocked::Io(error)),
    }
}

/// See [`hold`].
#[derive(Debug)]
pub(super) struct Hold {
    file: File,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Waits until sled's own lock on its file is free: it lets go some time after it was dropped.
pub(super) fn wait_for_sled(db: &Path) -> io::Result<bool> {
    let file = match File::open(db) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return file.unlock().map(|()| true),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => return Ok(false),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A compaction puts another store into the place of one that somebody is about to lock.
    #[test]
    #[cfg(unix)]
    fn a_file_is_not_what_has_taken_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path());
        fs::write(&path, "").unwrap();
        let file = File::open(&path).unwrap();
        assert!(is_at(&file, &path));
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        fs::rename(other, &path).unwrap();
        assert!(!is_at(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path));
    }

    #[test]
    fn a_hold_changes_nothing_and_keeps_others_out() {
        let folder = tempfile::tempdir().unwrap();
        assert!(hold(folder.path()).unwrap().is_none());
        drop(Lock::acquire(folder.path()).unwrap());
        fs::write(path(folder.path()), "4711\n").unwrap();
        let held = hold(folder.path()).unwrap();
        assert!(held.is_some());
        assert!(matches!(
            Lock::acquire(folder.path()),
            Err(NotLocked::Held(Some(4_711)))
        ));
        drop(held);
        assert_eq!(fs::read(path(folder.path())).unwrap(), b"4711\n");
        let lock = Lock::acquire(folder.path()).unwrap();
        assert!(matches!(hold(folder.path()), Err(NotLocked::Held(Some(_)))));
        drop(lock);
    }
}
