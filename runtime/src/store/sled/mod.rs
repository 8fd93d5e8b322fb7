//! The store in a folder: sled, made honest.
//!
//! sled alone acknowledges what is not on the device, and opens without a word when it has lost something.
//! This store does neither:
//!
//! - In front of sled is a journal. One thread writes: whatever arrives while it waits for the device becomes
//!   durable together, with one `fdatasync`, and is then shown and answered in order. What is not durable
//!   yet is not seen by readers either (S4). sled learns of it later, in the background, and a part of the
//!   journal goes when sled has all of it; so no acknowledged commit depends on sled's recovery.
//! - sled's folder has the synchronous attribute of the file system, so each of its writes is on the device
//!   when it returns. Where that cannot be had, [`Durability::Sync`] is refused; nothing is promised that is
//!   not kept.
//! - Every record has a version, a checksum and the number of its commit; commits are numbered without
//!   gaps, and each frame of the journal names the one before it. A file beside both knows a commit that
//!   was acknowledged, and how many records of each kind sled has taken over, with a sum over them. A sled
//!   or a journal that knows less, is empty, panics or does not answer is [`OpenError::Damaged`]: never an
//!   empty store.
//! - When a write fails, the store closes itself and says so. Nothing is tried twice.
//!
//! A store is looked after with [`SledStore::verify`] and [`SledStore::stat`], [made](import) out of an
//! [export](crate::store::export), [compacted](compact()) and, when it is damaged, [salvaged](Salvage); the command
//! `perennial store` does the same.
//!
//! After a stop without closing, sled's file is copied aside before sled changes it (`db.before-recovery`,
//! one copy, replaced at the next such opening), unless it is larger than 1 GiB or the space does not allow
//! it. A store belongs to one process at a time.

mod apply;
mod blocked;
mod cache;
mod check;
mod compact;
mod copy;
mod effects;
mod folder;
mod fresh;
mod inbox;
mod indexes;
mod journal;
mod keys;
mod lock;
mod migrate;
mod offers;
mod open;
mod open_error;
mod overlay;
mod problem;
mod programs;
mod purge;
mod queue;
mod read;
mod records;
mod resolve;
mod restore;
mod run;
mod salvage;
mod sends;
mod stat;
mod state;
mod store;
mod streams;
mod taken;
mod tally;
mod tamper;
mod value;
mod verify;
mod views;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

pub use compact::{CompactError, Compacted, compact};
pub use copy::copy;
#[cfg(feature = "cli")]
pub(crate) use folder::is_store;
pub use fresh::import;
pub use open_error::{Damage, OpenError};
pub use salvage::{Candidate, Damages, Differs, Salvage, SalvageError, Salvaged};
pub use stat::{Disk, KindSize, Stat};
pub use tamper::Tamper;
pub use verify::Report;

use super::StoreError;
use super::contract::Ack;
use queue::Line;
use writer::{Shared, Write};

/// What a write that was acknowledged survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The end of the power: it is on the device.
    #[default]
    Sync,
    /// The end of the process, but not of the power: the system has it. After a power cut the last commits
    /// may be missing; where the file system has the synchronous attribute, nothing else is. Elsewhere the
    /// store may be [damaged](OpenError::Damaged), even as a whole.
    Os,
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    durability: Durability,
    cache: u64,
    patience: Duration,
    max_copy: u64,
    segment: u64,
    gather: usize,
    existing: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            cache: 128 << 20,
            patience: Duration::from_secs(60),
            max_copy: folder::MAX_COPY,
            segment: journal::SEGMENT,
            gather: apply::MUCH,
            existing: false,
        }
    }
}

impl Options {
    /// What an acknowledged write survives; [`Durability::Sync`] by default.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How much sled keeps in memory, in bytes; 128 MiB by default. The process takes about three times as
    /// much.
    #[must_use]
    pub fn cache(mut self, bytes: u64) -> Self {
        self.cache = bytes;
        self
    }

    /// How long sled may take to open its files before the store counts as damaged; 60 seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Opens a store only where there is one, and makes none.
    #[must_use]
    pub fn existing(mut self) -> Self {
        self.existing = true;
        self
    }

    /// For tests: how large a segment of the journal is, in bytes.
    #[doc(hidden)]
    #[must_use]
    pub fn segment(mut self, bytes: u64) -> Self {
        self.segment = bytes;
        self
    }

    /// For tests: how much gathers before sled takes it over, in bytes.
    #[doc(hidden)]
    #[must_use]
    pub fn gather(mut self, bytes: usize) -> Self {
        self.gather = bytes;
        self
    }

    /// Opens the store in `folder`, or makes one there.
    ///
    /// Blocks: some tenths of a second after a kill, some seconds for a store of several hundred MB.
    ///
    /// # Errors
    ///
    /// [`OpenError`]: held by a living process, written by newer software, not able to keep the promise of
    /// its durability, damaged, or refused by the system; with [`existing`](Self::existing) also that there is
    /// no store.
    pub fn open(&self, folder: impl AsRef<Path>) -> Result<SledStore, OpenError> {
        SledStore::start(folder.as_ref(), self)
    }
}

/// Others want to write meanwhile, so nothing long is read in one look.
const SLICE: usize = 1_000;

/// Keeps runs in a folder (see the [module](self)).
pub struct SledStore {
    folder: PathBuf,
    durability: Durability,
    shared: Arc<Shared>,
    line: Arc<Line>,
    /// `None` only while it is dropped.
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for SledStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SledStore")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl SledStore {
    /// Opens the store in `folder`, or makes one there, with the default [`Options`].
    ///
    /// # Errors
    ///
    /// See [`Options::open`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Options::default().open(folder)
    }

    /// Opens a store that is there, for a look at it: with [`Durability::Sync`] where that can be had, and
    /// otherwise without. Like every opening, it changes the files: what a process before has left undone is
    /// done.
    ///
    /// # Errors
    ///
    /// See [`Options::open`].
    pub fn open_existing(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        let options = Options::default().existing();
        match options.open(folder) {
            Err(OpenError::NoSync { .. }) => options.durability(Durability::Os).open(folder),
            opened => opened,
        }
    }

    /// How a store can be opened otherwise.
    #[must_use]
    pub fn options() -> Options {
        Options::default()
    }

    fn start(folder: &Path, options: &Options) -> Result<Self, OpenError> {
        let writer = open::open(folder, options)?;
        let shared = Arc::clone(&writer.shared);
        let line = Arc::new(Line::new(writer));
        let writing = Arc::clone(&line);
        let started = std::thread::Builder::new()
            .name("perennial-store".into())
            .spawn(move || writing.run());
        let thread = match started {
            Ok(thread) => thread,
            Err(error) => {
                line.give_up();
                return Err(OpenError::Io {
                    folder: folder.into(),
                    what: "starting the writer",
                    error: error.to_string(),
                });
            }
        };
        Ok(Self {
            folder: folder.into(),
            durability: options.durability,
            shared,
            line,
            thread: Some(thread),
        })
    }

    /// The store's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn hand_over(&self, write: Write) {
        self.line.queue.push(write);
    }

    /// Hands a write over and waits for its answer.
    fn wait_for<T: Send + 'static>(
        &self,
        write: impl FnOnce(Ack<T>) -> Write,
    ) -> Result<T, StoreError> {
        if queue::is_writing() {
            let error =
                "an ack must not wait for the store: it is called by the thread that would answer";
            return Err(StoreError::Io {
                what: "waiting for a write".into(),
                error: error.into(),
            });
        }
        let (answer, answered) = mpsc::sync_channel(1);
        self.hand_over(write(Box::new(move |result| {
            let _ = answer.send(result);
        })));
        answered.recv().unwrap_or_else(|_| {
            Err(StoreError::Unknown {
                reason: "its writer has ended".into(),
            })
        })
    }
}

impl Drop for SledStore {
    /// Closes the store, if nobody did.
    fn drop(&mut self) {
        self.line.queue.end();
        // An ack may hold the last reference to the store, and is called by the store's thread, which then
        // ends by itself.
        if let Some(thread) = self.thread.take().filter(|_| !queue::is_writing()) {
            let _ = thread.join();
        }
    }
}
