//! The writer: one thread that takes the writes in their order, resolves each against what the ones before
//! it leave, makes many of them durable at once, and answers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use ::sled::Db;

use super::batch::{self, MAX_BATCH, RESERVED, Whole};
use super::cache::Cache;
use super::effects::{Changed, Step};
use super::gate::{Gate, failed};
use super::keys::Key;
use super::lock::{self, Lock};
use super::problem::guarded;
use super::state::{FORMAT, State};
use super::{Durability, folder};
use crate::store::StoreError;
use crate::store::acks;
use crate::store::contract::{Ack, Commit, Create, Created, Deliver, Head, Owner};
use perennial::RunKey;

/// After so long without a write the file beside sled learns of the last commit.
const IDLE: Duration = Duration::from_millis(200);
/// And under load so often.
const NOTE_EVERY: Duration = Duration::from_secs(1);
/// A drain takes at most so many writes.
const MAX_WRITES: usize = 4_096;

/// What is handed to the writer.
pub(super) enum Write {
    Create(Box<Create>, Ack<Created>),
    Commit(Box<Commit>, Ack<()>),
    Deliver(Box<Deliver>, Ack<u64>),
    Claim(RunKey, Owner, Ack<Head>),
    Enroll(Ack<Owner>),
    /// For tests: changes a value behind everybody's back.
    Tamper(Key, Option<Vec<u8>>, Ack<()>),
    Close(Ack<()>),
}

impl Write {
    /// Answers with an error.
    pub(super) fn refuse(self, error: StoreError) {
        acks::deliver(match self {
            Self::Create(_, ack) => acks::answer(ack, Err(error)),
            Self::Commit(_, ack) | Self::Tamper(_, _, ack) | Self::Close(ack) => {
                acks::answer(ack, Err(error))
            }
            Self::Deliver(_, ack) => acks::answer(ack, Err(error)),
            Self::Claim(_, _, ack) => acks::answer(ack, Err(error)),
            Self::Enroll(ack) => acks::answer(ack, Err(error)),
        });
    }
}

/// An answer that waits for the fate of its drain.
type Waiting = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

fn waiting<T: Send + 'static>(ack: Ack<T>, result: Result<T, StoreError>) -> Waiting {
    Box::new(move |fate| acks::deliver(acks::answer(ack, fate.and(result))))
}

/// Writes that become durable together.
pub(super) struct Drain {
    /// The number that their commit gets.
    pub(super) commit: u64,
    pub(super) changed: Changed,
    pub(super) next_chunk: u32,
    /// Counts the attempts that are recorded, since their keys are told apart by it.
    pub(super) attempts: u32,
    chunks: Vec<(Key, Vec<u8>)>,
    bytes: usize,
    /// One of the writes is so large that it goes alone.
    full: bool,
    /// sled failed while a write was resolved.
    failure: Option<StoreError>,
    answers: Vec<Waiting>,
}

impl Drain {
    fn new(commit: u64) -> Self {
        Self {
            commit,
            changed: Changed::new(),
            next_chunk: 0,
            attempts: 0,
            chunks: Vec::new(),
            bytes: 0,
            full: false,
            failure: None,
            answers: Vec::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.full || self.failure.is_some() || self.answers.len() >= MAX_WRITES
    }

    fn has_room_for(&self, step: &Step) -> bool {
        self.changed.is_empty()
            || self.bytes + step.changed_size + step.chunks_size <= MAX_BATCH - RESERVED
    }

    fn accept(&mut self, step: Step) {
        self.next_chunk = step.next_chunk;
        self.bytes += step.changed_size + step.chunks_size;
        self.changed.extend(step.changed);
        if self.bytes <= MAX_BATCH - RESERVED {
            // Chunks of a drain that fits into one batch are keys like others: a later write of this drain
            // may remove them again.
            self.changed.extend(
                step.chunks
                    .into_iter()
                    .map(|(key, value)| (key, Some(value))),
            );
        } else {
            self.chunks = step.chunks;
            self.full = true;
        }
    }
}

/// What the writer and those who hand to it share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) gate: Gate,
    /// For tests: the next flush fails.
    pub(super) fail: AtomicBool,
}

pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) db: Option<Db>,
    pub(super) lock: Option<Lock>,
    pub(super) store: PathBuf,
    pub(super) durability: Durability,
    /// The last commit.
    pub(super) commit: u64,
    /// The last owner.
    pub(super) owners: u64,
    pub(super) cache: Cache,
    /// Why no more writes are taken.
    pub(super) closed: Option<String>,
    /// The last commit that the file beside sled knows of, and since when.
    pub(super) noted: (u64, Instant),
}

impl Writer {
    pub(super) fn run(mut self, writes: &Receiver<Write>) {
        let mut carried = None;
        while let Some(write) = carried.take().or_else(|| self.next(writes)) {
            carried = self.drain(write, writes);
        }
        if let Err(error) = self.close() {
            tracing::error!(%error, "the store could not be closed");
        }
    }

    fn next(&mut self, writes: &Receiver<Write>) -> Option<Write> {
        if self.closed.is_none() && self.noted.0 < self.commit {
            match writes.recv_timeout(IDLE) {
                Ok(write) => return Some(write),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.note(),
            }
        }
        writes.recv().ok()
    }

    /// Takes writes as long as there are some and they fit. Gives back the one that did not.
    fn drain(&mut self, first: Write, writes: &Receiver<Write>) -> Option<Write> {
        let mut drain = Drain::new(self.commit + 1);
        let mut next = Some(first);
        let mut left = None;
        while let Some(write) = next {
            if let Some(reason) = &self.closed
                && !matches!(write, Write::Close(_))
            {
                write.refuse(StoreError::Closed {
                    reason: reason.clone(),
                });
                return None;
            }
            left = self.admit(&mut drain, write);
            if left.is_some() || drain.is_full() {
                break;
            }
            next = writes.try_recv().ok();
        }
        self.settle(drain);
        match left {
            Some(Write::Close(ack)) => {
                let result = self.close();
                acks::deliver(acks::answer(ack, result));
                None
            }
            left => left,
        }
    }

    /// Resolves a write and adds it to the drain, or gives it back if it does not fit.
    fn admit(&mut self, drain: &mut Drain, write: Write) -> Option<Write> {
        match write {
            Write::Create(create, ack) => {
                let resolved = guarded(|| self.resolve_create(drain, &create));
                self.accept(drain, resolved, create, ack, Write::Create)
            }
            Write::Commit(commit, ack) => {
                let resolved = guarded(|| self.resolve_commit(drain, &commit));
                self.accept(drain, resolved, commit, ack, Write::Commit)
            }
            Write::Deliver(deliver, ack) => {
                let resolved = guarded(|| self.resolve_deliver(drain, &deliver));
                self.accept(drain, resolved, deliver, ack, Write::Deliver)
            }
            Write::Claim(run, owner, ack) => {
                let resolved = guarded(|| self.resolve_claim(drain, &run, owner));
                self.accept(drain, resolved, run, ack, |run, ack| {
                    Write::Claim(run, owner, ack)
                })
            }
            Write::Enroll(ack) => {
                let resolved = self.resolve_enroll(drain);
                self.accept(drain, resolved, (), ack, |(), ack| Write::Enroll(ack))
            }
            Write::Tamper(key, value, ack) => {
                let changed = Changed::from([(key.clone(), value.clone())]);
                self.cache = Cache::default();
                let step = Step {
                    changed,
                    next_chunk: drain.next_chunk,
                    ..Step::default()
                };
                self.accept(
                    drain,
                    Ok(Resolution {
                        step,
                        ..Resolution::nothing(())
                    }),
                    (),
                    ack,
                    |(), ack| Write::Tamper(key, value, ack),
                )
            }
            close @ Write::Close(_) => Some(close),
        }
    }

    fn accept<W, T: Send + 'static>(
        &mut self,
        drain: &mut Drain,
        resolved: Result<Resolution<T>, StoreError>,
        write: W,
        ack: Ack<T>,
        again: impl FnOnce(W, Ack<T>) -> Write,
    ) -> Option<Write> {
        let result = match resolved {
            Ok(resolution) if !drain.has_room_for(&resolution.step) => {
                return Some(again(write, ack));
            }
            Ok(Resolution {
                step,
                record,
                attempts,
                owners,
                answer,
            }) => {
                drain.accept(step);
                drain.attempts += attempts;
                self.owners += owners;
                if let Some((run, record)) = record {
                    self.cache.put(run, record);
                }
                Ok(answer)
            }
            Err(error) => {
                if matches!(error, StoreError::Io { .. }) {
                    drain.failure = Some(error.clone());
                }
                Err(error)
            }
        };
        drain.answers.push(waiting(ack, result));
        None
    }

    /// Makes a drain durable and answers, in the order of its writes.
    fn settle(&mut self, drain: Drain) {
        let Drain {
            commit,
            changed,
            chunks,
            next_chunk,
            failure,
            answers,
            ..
        } = drain;
        let written = match (&failure, &self.db) {
            (Some(error), _) => self.shared.gate.write(|| Err(error.to_string())),
            (None, Some(db)) if !changed.is_empty() => {
                let last = batch::last_record(commit, &changed);
                let whole = Whole {
                    commit,
                    changed,
                    chunks,
                    next_chunk,
                    last,
                };
                let fail = self.shared.fail.swap(false, Ordering::Relaxed);
                self.shared.gate.write(|| {
                    if fail {
                        return Err("a test asked for it".into());
                    }
                    guarded(|| batch::write(db, whole))
                        .map_err(|error| error.to_string())
                        .inspect(|()| {
                            self.commit = commit;
                        })
                })
            }
            (None, _) => Ok(()),
        };
        let fate = written.map_err(|reason| {
            tracing::error!(%reason, store = %self.store.display(), "a write failed; the store takes no more");
            self.closed = Some(failed(&reason));
            // What sled holds now was never acknowledged; it is looked at when the store is opened again.
            self.db = None;
            StoreError::Unknown { reason }
        });
        for answer in answers {
            answer(fate.clone());
        }
        if self.noted.0 < self.commit && self.noted.1.elapsed() > NOTE_EVERY {
            self.note();
        }
    }

    /// Tells the file beside sled of the last commit.
    fn note(&mut self) {
        self.noted = (self.commit, Instant::now());
        let state = State {
            format: FORMAT,
            commit: self.commit,
            clean: false,
        };
        // It may be behind: what it does not know cannot be missed, and that is all.
        if let Err(error) = state.write(&self.store, self.durability == Durability::Sync) {
            tracing::warn!(%error, "the last commit could not be noted");
        }
    }

    /// Makes everything durable and lets go. Once is enough; after a failed write there is nothing to do but
    /// to let go.
    fn close(&mut self) -> Result<(), StoreError> {
        let Some(lock) = self.lock.take() else {
            return Ok(());
        };
        let failed = self.closed.is_some();
        self.closed
            .get_or_insert_with(|| "it was asked to close".into());
        self.shared.gate.close("it was asked to close");
        let result = self.let_go(failed);
        drop(lock);
        result
    }

    fn let_go(&mut self, failed: bool) -> Result<(), StoreError> {
        let flushed = self.db.take().map_or(Ok(0), |db| db.flush());
        let io = |what: &str, error: &dyn std::fmt::Display| StoreError::Io {
            what: what.into(),
            error: error.to_string(),
        };
        flushed.map_err(|error| io("sled could not flush", &error))?;
        lock::wait_for_sled(&folder::db(&self.store))
            .map_err(|error| io("sled did not let go of its files", &error))?;
        if failed {
            return Ok(());
        }
        let state = State {
            format: FORMAT,
            commit: self.commit,
            clean: true,
        };
        folder::sync_all(&folder::sled(&self.store))
            .and_then(|()| state.write(&self.store, true))
            .map_err(|error| io("the store could not be marked as closed", &error))
    }
}

/// What a write comes to.
pub(super) struct Resolution<T> {
    pub(super) step: Step,
    /// The record of the run as it leaves it.
    pub(super) record: Option<(RunKey, super::run::RunRecord)>,
    /// How many attempts it records.
    pub(super) attempts: u32,
    /// How many owners it makes.
    pub(super) owners: u64,
    pub(super) answer: T,
}

impl<T> Resolution<T> {
    /// Nothing is written.
    pub(super) fn nothing(answer: T) -> Self {
        Self {
            step: Step::default(),
            record: None,
            attempts: 0,
            owners: 0,
            answer,
        }
    }
}
