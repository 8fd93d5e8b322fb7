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
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let file = file.map_err(NotLocked::Io)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
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
        }
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
