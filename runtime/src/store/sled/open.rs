//! Opening a store: sled is asked last, and not believed.
//!
//! 1. The folder, our lock, and the file that says what must be in the store.
//! 2. The synchronous attribute, on sled's folder and on every file in it.
//! 3. After a stop without closing: a copy of `db`, since sled changes it as it opens; what is left of a
//!    half-written snapshot is deleted.
//! 4. sled, on a thread of its own and under a watch: it may panic, or never come to an end.
//! 5. The journal from the commit on that sled has: what is in neither, or is not whole, is damage.
//! 6. What sled holds against what it must hold: the newest records that it has taken over, and how many
//!    there are of each kind, but for histories.
//! 7. Only then the first writes: the journal goes on in a segment of its own.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::sled::Db;
use perennial::wire::RecordError;

use super::apply::{Applied, Applier, Progress};
use super::cache::Cache;
use super::folder::{self, NoSync};
use super::journal::{self, Broken, Journal, Recovered};
use super::lock::{self, Lock, NotLocked};
use super::open_error::{Damage, OpenError};
use super::overlay::Overlay;
use super::problem::{REFUSED, guarded, is_refusal, panic_text};
use super::state::{self, FORMAT, State, Unreadable};
use super::taken::{self, Taken};
use super::writer::{Shared, Writer};
use super::{Durability, Options, check};
use crate::store::StoreError;

/// sled writes what it holds in memory, and looks for garbage, so often. Without this it would never
/// collect any.
const FLUSH_EVERY_MS: u64 = 500;

struct Opening<'a> {
    store: &'a Path,
    options: &'a Options,
}

/// Opens a store, or makes one.
pub(super) fn open(store: &Path, options: &Options) -> Result<Writer, OpenError> {
    Opening { store, options }.open()
}

impl Opening<'_> {
    fn open(&self) -> Result<Writer, OpenError> {
        if self.options.existing && !folder::is_store(self.store) {
            return Err(OpenError::NoStore {
                folder: self.store.into(),
            });
        }
        let made = folder::create(self.store).map_err(self.io("creating the folder"))?;
        let opened = self.in_folder();
        if made && matches!(opened, Err(OpenError::NoSync { .. })) {
            // Nothing was stored, so nothing stays behind.
            let _ = fs::remove_file(lock::path(self.store));
            let _ = fs::remove_dir(folder::sled(self.store));
            let _ = fs::remove_dir(self.store);
        }
        opened
    }

    fn in_folder(&self) -> Result<Writer, OpenError> {
        let lock = Lock::acquire(self.store).map_err(|error| match error {
            NotLocked::Held(process) => OpenError::Held {
                folder: self.store.into(),
                process,
            },
            NotLocked::Io(error) => self.io("locking `perennial.lock`")(error),
        })?;
        let before = self.state()?;
        let sled = folder::sled(self.store);
        folder::create(&sled).map_err(self.io("creating the folder for sled"))?;
        self.attribute(&sled)?;

        if !before.clean && folder::db(self.store).exists() {
            self.copy_aside();
            folder::forget(&folder::db(self.store)).map_err(self.io("syncing `sled/db`"))?;
        }
        // From here on sled may write.
        State {
            clean: false,
            ..before.clone()
        }
        .write(self.store)
        .map_err(self.io("writing `perennial.state`"))?;
        folder::remove_half_snapshots(&sled)
            .map_err(self.io("removing a half-written snapshot"))?;
        folder::remove_half_made(self.store)
            .map_err(self.io("removing what sled has not finished making"))?;
        let (db, lock) = self.watched(lock, &sled)?;
        self.attribute(&sled)?;
        let applied = guarded(|| Applied::read(&db)).map_err(|error| self.record(error))?;

        let journal = journal::folder(self.store);
        folder::create(&journal).map_err(self.io("creating the folder for the journal"))?;
        let mut recovered =
            journal::recover(&journal, applied.commit).map_err(self.io("reading the journal"))?;
        self.check_journal(&before, applied.commit, &mut recovered)?;
        if applied.commit > before.taken {
            return Err(self.damaged(Damage::StateBehind {
                noted: before.taken,
                found: applied.commit,
            }));
        }
        recovered
            .settle(&journal, before.os)
            .map_err(self.io("syncing the journal"))?;
        let overlay = Overlay::new(db.clone());
        let commits = std::mem::take(&mut recovered.commits);
        let (taken, later): (Vec<_>, Vec<_>) = commits
            .into_iter()
            .partition(|(commit, _)| *commit <= before.taken);
        for (commit, changed) in taken {
            overlay.show(commit, changed);
        }
        // What sled may have a part of is below what comes after it.
        overlay.take();
        let look = overlay.read(|view| {
            check::newest(view, &applied)?;
            taken::look(view, &before.tallies)
        });
        if let Some(difference) = look.map_err(|error| self.record(error))? {
            return Err(self.record(difference.into()));
        }
        for (commit, changed) in later {
            overlay.show(commit, changed);
        }
        let look = overlay.read(|view| Ok((check::owners(view)?, check::runs(view)?)));
        let (owners, runs) = look.map_err(|error| self.record(error))?;

        let settings = journal::Settings {
            segment: self.options.segment,
            sync: self.options.durability == Durability::Sync,
        };
        let mut journal = Journal::start(journal, settings, &recovered)
            .map_err(self.io("beginning a segment of the journal"))?;
        journal
            .recycle(applied.commit)
            .map_err(self.io("letting go of old segments of the journal"))?;
        folder::sync(&sled).map_err(self.io("syncing the folder for sled"))?;
        let state = State {
            format: FORMAT,
            commit: recovered.last,
            clean: false,
            os: self.options.durability == Durability::Os,
            boot: state::boot(),
            taken: before.taken,
            tallies: before.tallies.clone(),
            synced: recovered.last,
        };
        state
            .write(self.store)
            .map_err(self.io("writing `perennial.state`"))?;
        folder::keep_copy(self.store)
            .map_err(self.io("keeping the copy from before the recovery"))?;

        let (bytes, much) = (overlay.bytes(), self.options.gather);
        let progress = Progress::new(applied.commit, recovered.last, bytes, much);
        let shared = Arc::new(Shared {
            overlay,
            progress,
            taken: Taken::new(before.taken, before.tallies),
            fail: AtomicBool::new(false),
        });
        let applier = Applier {
            shared: Arc::clone(&shared),
            db,
            store: self.store.into(),
            state: state.clone(),
            applied,
        };
        let applier = std::thread::Builder::new()
            .name("perennial-store-apply".into())
            .spawn(move || applier.run())
            .map_err(self.io("starting the thread that carries the journal into sled"))?;
        Ok(Writer {
            shared,
            journal,
            applier: Some(applier),
            lock: Some(lock),
            store: self.store.into(),
            state,
            commit: recovered.last,
            owners,
            runs,
            cache: Cache::default(),
            closed: None,
        })
    }

    /// What must be in the store; a new one must hold nothing.
    fn state(&self) -> Result<State, OpenError> {
        match State::read(self.store) {
            Ok(Some(state)) if state.format > FORMAT => Err(OpenError::Newer {
                folder: self.store.into(),
                format: state.format,
                understood: FORMAT,
            }),
            Ok(Some(state)) if state.format < FORMAT => Err(OpenError::Older {
                folder: self.store.into(),
                format: state.format,
                understood: FORMAT,
            }),
            // sled would make a new one.
            Ok(Some(state)) if state.commit > 0 && !folder::db(self.store).exists() => Err(self
                .damaged(Damage::Empty {
                    acknowledged: state.commit,
                })),
            Ok(Some(state)) => Ok(state),
            Ok(None) if folder::db(self.store).exists() => Err(self.damaged(Damage::StateMissing)),
            // Written before sled's first file: one without the other is always seen.
            Ok(None) => Ok(State {
                format: FORMAT,
                ..State::default()
            }),
            Err(Unreadable::Record(RecordError::Newer {
                version,
                understood,
            })) => Err(OpenError::Newer {
                folder: self.store.into(),
                format: version.into(),
                understood: understood.into(),
            }),
            Err(Unreadable::Record(problem)) => {
                Err(self.damaged(Damage::StateUnreadable { problem }))
            }
            Err(Unreadable::Io(error)) => Err(self.io("reading `perennial.state`")(error)),
        }
    }

    /// Also where it is not promised: what the background writes costs little, and all but the last commits
    /// then outlives the power.
    fn attribute(&self, sled: &Path) -> Result<(), OpenError> {
        match folder::make_synchronous(sled) {
            Err(NoSync { path, reason }) if self.options.durability == Durability::Sync => {
                Err(OpenError::NoSync {
                    folder: self.store.into(),
                    path,
                    reason,
                })
            }
            _ => Ok(()),
        }
    }

    /// The copy is a precaution: where it cannot be made, the store is opened all the same.
    fn copy_aside(&self) {
        let store = self.store.display();
        match folder::copy_aside(self.store, self.options.max_copy) {
            Ok(true) => {}
            Ok(false) => {
                tracing::warn!(%store, "no copy before the recovery: too large, or too little space")
            }
            Err(error) => tracing::warn!(%store, %error, "no copy before the recovery"),
        }
    }

    /// Opens sled under a watch.
    fn watched(&self, lock: Lock, sled: &Path) -> Result<(Db, Lock), OpenError> {
        let free = lock::wait_for_sled(&folder::db(self.store))
            .map_err(self.io("looking at the lock of `sled/db`"))?;
        if !free {
            return Err(OpenError::Held {
                folder: self.store.into(),
                process: None,
            });
        }
        let config = ::sled::Config::new()
            .path(sled)
            .cache_capacity(self.options.cache)
            .flush_every_ms(Some(FLUSH_EVERY_MS));
        watch(lock, self.options.patience, move || config.open()).map_err(|error| match error {
            NotOpened::Damaged(damage) => self.damaged(damage),
            NotOpened::Refused(error) => self.io("opening sled")(error),
        })
    }

    /// Holds what sled and the journal have against each other, and against what was acknowledged.
    fn check_journal(
        &self,
        before: &State,
        applied: u64,
        found: &mut Recovered,
    ) -> Result<(), OpenError> {
        // Before sled gets anything the journal has it, on the device.
        let acknowledged = before.commit.max(before.taken);
        let broken = found.broken.as_ref().map(|broken| match *broken {
            Broken::Header { segment } => Damage::JournalHeader { segment },
            Broken::Segment { segment } => Damage::JournalSegment { segment },
            Broken::Short { segment } => Damage::JournalShort { segment },
            Broken::Commit { segment, commit } => Damage::JournalCommit { segment, commit },
        });
        let Some(begins_after) = found.before else {
            return match (broken, acknowledged.max(applied)) {
                (Some(damage), _) => Err(self.damaged(damage)),
                (None, 0) => Ok(()),
                (None, acknowledged) => Err(self.damaged(Damage::JournalMissing { acknowledged })),
            };
        };
        if begins_after > applied {
            return Err(self.damaged(match applied {
                0 => Damage::Empty {
                    acknowledged: begins_after,
                },
                found => Damage::Behind {
                    acknowledged: begins_after,
                    found,
                },
            }));
        }
        // What was only in the memory of a system that is gone was not promised to be there.
        if before.os
            && !before.clean
            && before.boot != state::boot()
            && found.last >= applied.max(before.taken).max(before.synced)
        {
            let broken = found.broken.take();
            if broken.is_some() || found.last < acknowledged {
                tracing::warn!(
                    store = %self.store.display(), last = found.last, acknowledged, ?broken,
                    "the system was started anew, and the end of the journal is not there; with `Durability::Os` \
                     that was not promised"
                );
            }
            if broken.is_some() {
                found
                    .discard_rest(&journal::folder(self.store))
                    .map_err(self.io("discarding the end of the journal"))?;
            }
            return Ok(());
        }
        match broken {
            Some(damage) => Err(self.damaged(damage)),
            None if found.last < acknowledged.max(applied) => {
                let (acknowledged, found) = (acknowledged.max(applied), found.last);
                Err(self.damaged(Damage::JournalBehind {
                    acknowledged,
                    found,
                }))
            }
            None => Ok(()),
        }
    }

    fn record(&self, error: StoreError) -> OpenError {
        if let StoreError::Io { what, error } = &error
            && what == REFUSED
        {
            return self.io("reading what sled has")(error);
        }
        self.damaged(Damage::Record { error })
    }

    fn damaged(&self, damage: Damage) -> OpenError {
        let copy = Some(folder::under_recovery(self.store)).filter(|copy| copy.exists());
        OpenError::Damaged {
            folder: self.store.into(),
            damage,
            copy,
        }
    }

    fn io<E: std::fmt::Display>(&self, what: &'static str) -> impl Fn(E) -> OpenError {
        let folder: PathBuf = self.store.into();
        move |error| OpenError::Io {
            folder: folder.clone(),
            what,
            error: error.to_string(),
        }
    }
}

/// Why sled was not opened.
#[derive(Debug)]
enum NotOpened {
    Damaged(Damage),
    /// The system said no.
    Refused(String),
}

/// Runs `open` on a thread of its own, for at most `patience`. If it does not come to an end, the lock stays
/// with it: nobody else may touch what it may still be writing.
fn watch(
    lock: Lock,
    patience: Duration,
    open: impl FnOnce() -> ::sled::Result<Db> + Send + 'static,
) -> Result<(Db, Lock), NotOpened> {
    let (done, opened) = mpsc::sync_channel(1);
    let lock = Arc::new(Mutex::new(Some(lock)));
    let held = Arc::clone(&lock);
    let spawned = std::thread::Builder::new()
        .name("perennial-sled-open".into())
        .spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(open));
            let _ = done.send(match result {
                Ok(Ok(db)) => Ok(db),
                Ok(Err(error)) if is_refusal(&error) => Err(NotOpened::Refused(error.to_string())),
                Ok(Err(error)) => Err(NotOpened::Damaged(Damage::Refused {
                    error: error.to_string(),
                })),
                Err(panic) => Err(NotOpened::Damaged(Damage::Panicked {
                    message: panic_text(&*panic),
                })),
            });
            drop(held);
        });
    spawned.map_err(|error| NotOpened::Refused(error.to_string()))?;
    let silent = || NotOpened::Damaged(Damage::Silent { waited: patience });
    match opened.recv_timeout(patience) {
        Ok(result) => {
            // Also when it failed: the thread may take a moment to end.
            let lock = lock.lock().unwrap_or_else(PoisonError::into_inner).take();
            let db = result?;
            lock.map(|lock| (db, lock)).ok_or_else(silent)
        }
        Err(RecvTimeoutError::Timeout) => Err(silent()),
        Err(RecvTimeoutError::Disconnected) => Err(NotOpened::Damaged(Damage::Panicked {
            message: "the thread ended".into(),
        })),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn lock() -> (tempfile::TempDir, Lock) {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::acquire(folder.path()).unwrap();
        (folder, lock)
    }

    fn refused(found: Result<(Db, Lock), NotOpened>) -> Damage {
        match found.map(drop).unwrap_err() {
            NotOpened::Damaged(damage) => damage,
            NotOpened::Refused(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_panic_of_sled_is_damage() {
        let (folder, lock) = lock();
        let found = refused(watch(lock, LONG, || panic!("page out of bounds")));
        assert_eq!(
            found,
            Damage::Panicked {
                message: "page out of bounds".into()
            }
        );
        Lock::acquire(folder.path()).unwrap();
    }

    #[test]
    fn a_refusal_of_sled_is_damage() {
        let (_folder, lock) = lock();
        let found = refused(watch(lock, LONG, || {
            Err(::sled::Error::ReportableBug("broken".into()))
        }));
        assert!(matches!(found, Damage::Refused { error } if error.contains("broken")));
    }

    #[test]
    fn a_refusal_of_the_system_is_no_damage() {
        let kinds = [
            std::io::ErrorKind::StorageFull,
            std::io::ErrorKind::ReadOnlyFilesystem,
        ];
        for kind in kinds {
            let (_folder, lock) = lock();
            let found = watch(lock, LONG, move || Err(::sled::Error::Io(kind.into())));
            assert!(matches!(found, Err(NotOpened::Refused(_))), "{kind}");
        }
    }

    /// It may still be writing, so nobody else may open the store.
    #[test]
    fn a_sled_that_does_not_answer_is_damage_and_keeps_the_lock() {
        let (folder, lock) = lock();
        let (end, ended) = mpsc::channel::<()>();
        let found = refused(watch(lock, Duration::from_millis(1), move || {
            let _ = ended.recv();
            Err(::sled::Error::Unsupported("it is over".into()))
        }));
        assert_eq!(
            found,
            Damage::Silent {
                waited: Duration::from_millis(1)
            }
        );
        let held = Lock::acquire(folder.path()).map(drop);
        assert!(
            matches!(held, Err(NotLocked::Held(Some(process))) if process == std::process::id())
        );
        drop(end);
    }
}
