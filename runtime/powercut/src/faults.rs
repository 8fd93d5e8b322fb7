//! A device that fails, and one that is full.

use std::io;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::raw;
use crate::tape::{Watcher, lock};

static ALL: RwLock<Vec<Arc<Inner>>> = RwLock::new(Vec::new());

/// Makes calls on the files below a folder fail, until it is dropped. Nothing fails before it is told what
/// does.
///
/// A call that is to fail does not reach the system.
#[derive(Debug)]
pub struct Faults {
    inner: Arc<Inner>,
    _watcher: Watcher,
}

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Syncs until the first that fails.
    before_failure: Option<u64>,
    goes_on: bool,
    room: Option<u64>,
    failed: u64,
}

impl Faults {
    /// Watches the files below `folder`.
    ///
    /// # Errors
    ///
    /// When there is no such folder.
    pub fn below(folder: impl AsRef<Path>) -> io::Result<Self> {
        let inner = Arc::new(Inner {
            folder: folder.as_ref().canonicalize()?,
            state: Mutex::default(),
        });
        let watcher = Watcher::new();
        ALL.write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::clone(&inner));
        Ok(Self {
            inner,
            _watcher: watcher,
        })
    }

    /// The `n`-th `fsync` or `fdatasync` from now on, counted from 1, fails with `EIO`.
    pub fn fail_sync(&self, n: u64) {
        let mut state = lock(&self.inner.state);
        (state.before_failure, state.goes_on) = (Some(n.saturating_sub(1)), false);
    }

    /// The `n`-th and all that follow fail.
    pub fn fail_syncs_from(&self, n: u64) {
        let mut state = lock(&self.inner.state);
        (state.before_failure, state.goes_on) = (Some(n.saturating_sub(1)), true);
    }

    /// The device has room for so many more bytes. Each byte that is written takes one, also in place of
    /// another. What does not fit is written in part, and then fails with `ENOSPC`, as does making a file
    /// longer by more than there is room for.
    pub fn full_after(&self, bytes: u64) {
        lock(&self.inner.state).room = Some(bytes);
    }

    /// Nothing fails any more.
    pub fn heal(&self) {
        let mut state = lock(&self.inner.state);
        (state.before_failure, state.goes_on, state.room) = (None, false, None);
    }

    /// How many calls have failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        lock(&self.inner.state).failed
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        ALL.write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|inner| !Arc::ptr_eq(inner, &self.inner));
    }
}

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passes,
    /// Only so many of its bytes.
    Part(usize),
    Fails(libc::c_int),
}

fn of(fd: RawFd) -> Option<Arc<Inner>> {
    let all = ALL.read().unwrap_or_else(PoisonError::into_inner).clone();
    if all.is_empty() {
        return None;
    }
    let path = raw::path_of(fd)?;
    all.into_iter()
        .find(|inner| path.starts_with(&inner.folder))
}

/// A write of so many bytes.
pub(crate) fn write(fd: RawFd, bytes: usize) -> Verdict {
    let Some(inner) = of(fd) else {
        return Verdict::Passes;
    };
    let mut state = lock(&inner.state);
    let Some(room) = state.room else {
        return Verdict::Passes;
    };
    let fits = usize::try_from(room).unwrap_or(usize::MAX).min(bytes);
    state.room = Some(room - fits as u64);
    if fits == bytes {
        Verdict::Passes
    } else if fits > 0 {
        Verdict::Part(fits)
    } else {
        state.failed += 1;
        Verdict::Fails(libc::ENOSPC)
    }
}

/// Making a file so long. Gives the error number when it fails.
pub(crate) fn grow(fd: RawFd, to: u64) -> Option<libc::c_int> {
    let inner = of(fd)?;
    let growth = to.saturating_sub(raw::Stat::of(fd)?.size);
    let mut state = lock(&inner.state);
    let room = state.room?;
    if growth > room {
        state.failed += 1;
        return Some(libc::ENOSPC);
    }
    state.room = Some(room - growth);
    None
}

/// A sync. Gives the error number when it fails.
pub(crate) fn sync(fd: RawFd) -> Option<libc::c_int> {
    let inner = of(fd)?;
    let mut state = lock(&inner.state);
    match state.before_failure? {
        0 => {
            if !state.goes_on {
                state.before_failure = None;
            }
            state.failed += 1;
            Some(libc::EIO)
        }
        before => {
            state.before_failure = Some(before - 1);
            None
        }
    }
}
