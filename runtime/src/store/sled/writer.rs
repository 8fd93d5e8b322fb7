//! The writer: one at a time takes the writes in their order, resolves each against what the ones before
//! it leave, makes many of them durable at once, and answers.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use super::apply::Progress;
use super::cache::Cache;
use super::effects::{Changed, Step};
use super::folder;
use super::journal::Journal;
use super::keys::Key;
use super::lock::{self, Lock};
use super::overlay::{Overlay, failed};
use super::problem::guarded;
use super::queue::Queue;
use super::run::RunRecord;
use super::state::State;
use super::taken::Taken;
use crate::store::StoreError;
use crate::store::acks;
use crate::store::contract::{Ack, Commit, Create, Created, Deliver, Head, Owner};
use crate::store::inbox::Delivered;
use crate::store::migrate::Migrate;
use crate::store::program::ProgramRecord;
use crate::store::purge::{self, Purge};
use crate::store::restore::Restore;
use crate::store::slots::Committed;
use perennial::RunKey;

/// A drain of the store's thread takes at most so many writes.
pub(super) const MAX_WRITES: usize = 4_096;
/// And at most so many bytes, unless one write alone has more.
const MAX_BYTES: usize = 1 << 20;

/// What is handed to the writer.
pub(super) enum Write {
    Create(Box<Create>, Ack<Created>),
    Commit(Box<Commit>, Ack<Committed>),
    Deliver(Box<Deliver>, Ack<Delivered>),
    Claim(RunKey, Owner, Ack<Head>),
    Migrate(Box<Migrate>, Ack<Created>),
    Enroll(Ack<Owner>),
    Purge(Box<Purge>, Ack<purge::Progress>),
    Restore(Box<Restore>, Ack<purge::Progress>),
    Program(Box<ProgramRecord>, Ack<()>),
    /// For tests: changes a value behind everybody's back.
    Tamper(Key, Option<Vec<u8>>, Ack<()>),
    Close(Ack<()>),
}

impl Write {
    /// Answers with an error.
    pub(super) fn refuse(self, error: StoreError) {
        acks::deliver(match self {
            Self::Create(_, ack) | Self::Migrate(_, ack) => acks::answer(ack, Err(error)),
            Self::Commit(_, ack) => acks::answer(ack, Err(error)),
            Self::Program(_, ack) | Self::Tamper(_, _, ack) | Self::Close(ack) => {
                acks::answer(ack, Err(error))
            }
            Self::Deliver(_, ack) => acks::answer(ack, Err(error)),
            Self::Claim(_, _, ack) => acks::answer(ack, Err(error)),
            Self::Enroll(ack) => acks::answer(ack, Err(error)),
            Self::Purge(_, ack) | Self::Restore(_, ack) => acks::answer(ack, Err(error)),
        });
    }
}

impl fmt::Debug for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Write")
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
    bytes: usize,
    /// The store failed while a write was resolved.
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
            bytes: 0,
            failure: None,
            answers: Vec::new(),
        }
    }

    fn is_full(&self, most: usize) -> bool {
        self.failure.is_some() || self.answers.len() >= most
    }

    fn has_room_for(&self, step: &Step) -> bool {
        self.changed.is_empty() || self.bytes + step.size <= MAX_BYTES
    }

    fn accept(&mut self, step: Step) {
        // A write that changes nothing knows of no chunks.
        self.next_chunk = self.next_chunk.max(step.next_chunk);
        self.bytes += step.size;
        self.changed.extend(step.changed);
    }
}

/// What the store's threads and those who hand to them share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) overlay: Overlay,
    pub(super) progress: Progress,
    pub(super) taken: Taken,
    /// For tests: the next write into the journal fails.
    pub(super) fail: AtomicBool,
}

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) journal: Journal,
    /// Carries into sled what is in the journal.
    pub(super) applier: Option<JoinHandle<()>>,
    pub(super) lock: Option<Lock>,
    pub(super) store: PathBuf,
    /// What the file beside sled says when the store is closed, but for the last commit.
    pub(super) state: State,
    /// The last commit.
    pub(super) commit: u64,
    /// The last owner.
    pub(super) owners: u64,
    /// How many runs there are.
    pub(super) runs: u64,
    pub(super) cache: Cache,
    /// Why no more writes are taken.
    pub(super) closed: Option<String>,
}

impl Writer {
    /// Takes writes as long as there are some and they fit, at most `most`, makes them durable and answers.
    pub(super) fn drain(&mut self, queue: &Queue, most: usize) {
        let mut drain = Drain::new(self.commit + 1);
        while let Some(write) = queue.take() {
            if self.closed.is_none() {
                self.closed = self.shared.progress.failure();
            }
            match (&self.closed, write) {
                (_, Write::Close(ack)) => {
                    self.settle(drain);
                    let result = self.close();
                    return acks::deliver(acks::answer(ack, result));
                }
                (Some(reason), write) => write.refuse(StoreError::Closed {
                    reason: reason.clone(),
                }),
                (None, write) => {
                    if let Some(write) = self.admit(&mut drain, write) {
                        queue.put_back(write);
                        break;
                    }
                }
            }
            if drain.is_full(most) {
                break;
            }
        }
        self.settle(drain);
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
            Write::Migrate(migrate, ack) => {
                let resolved = guarded(|| self.resolve_migrate(drain, &migrate));
                self.accept(drain, resolved, migrate, ack, Write::Migrate)
            }
            Write::Enroll(ack) => {
                let resolved = self.resolve_enroll(drain);
                self.accept(drain, resolved, (), ack, |(), ack| Write::Enroll(ack))
            }
            Write::Purge(purge, ack) => {
                let resolved = guarded(|| self.resolve_purge(drain, &purge));
                self.accept(drain, resolved, purge, ack, Write::Purge)
            }
            Write::Restore(restore, ack) => {
                let resolved = guarded(|| self.resolve_restore(drain, &restore));
                self.accept(drain, resolved, restore, ack, Write::Restore)
            }
            Write::Program(program, ack) => {
                let resolved = guarded(|| self.resolve_program(drain, &program));
                self.accept(drain, resolved, program, ack, Write::Program)
            }
            Write::Tamper(key, value, ack) => {
                let changed = Changed::from([(key.clone(), value.clone())]);
                self.cache = Cache::default();
                let step = Step {
                    changed,
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
            // It is not admitted: what was before it is settled first.
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
                also,
                attempts,
                owners,
                runs,
                answer,
            }) => {
                drain.accept(step);
                drain.attempts += attempts;
                self.owners += owners;
                self.runs = self.runs.saturating_add_signed(runs);
                match record {
                    Some((run, Some(record))) => self.cache.put(run, record),
                    Some((run, None)) => self.cache.forget(&run),
                    None => {}
                }
                for (run, record) in also {
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

    /// Makes a drain durable, shows it and answers, in the order of its writes.
    fn settle(&mut self, drain: Drain) {
        let Drain {
            commit,
            changed,
            failure,
            answers,
            ..
        } = drain;
        let changes = !changed.is_empty();
        let written = match failure {
            Some(error) => Err(error.to_string()),
            None if changes => self.append(commit, changed),
            None => Ok(()),
        };
        let fate = written.map_err(|reason| {
            // What the journal holds beyond the last commit was never acknowledged; whether it is there is
            // seen when the store is opened again.
            self.stop(&failed(&reason));
            StoreError::Unknown { reason }
        });
        for answer in answers {
            answer(fate.clone());
        }
        match fate {
            Ok(()) if changes => self.follow(),
            Ok(()) => {}
            Err(error) => {
                tracing::error!(store = %self.store.display(), "the store takes no more: {error}");
            }
        }
    }

    /// Takes and shows nothing any more. First of all: what follows may panic, a subscriber to logs for one.
    pub(super) fn stop(&mut self, reason: &str) {
        self.closed.get_or_insert_with(|| reason.to_owned());
        self.shared.overlay.close(reason);
    }

    fn append(&mut self, commit: u64, changed: Changed) -> Result<(), String> {
        if self.shared.fail.swap(false, Ordering::Relaxed) {
            return Err("a test asked for it".into());
        }
        self.journal
            .append(commit, &changed)
            .map_err(|error| format!("the journal could not be written: {error}"))?;
        self.commit = commit;
        self.shared.overlay.show(commit, changed);
        Ok(())
    }

    /// Tells the applier, and lets go of segments whose commits are all in sled.
    fn follow(&mut self) {
        let written = self.journal.take_written();
        let applied = self
            .shared
            .progress
            .written(self.commit, written, &self.shared.overlay);
        // Where sled has failed the next write is told.
        let tidied = applied.map_or(Ok(()), |applied| self.journal.recycle(applied));
        self.must(tidied);
    }

    /// Marks the last commit as acknowledged, if it is not. Nobody waits for this.
    pub(super) fn mark(&mut self) {
        if self.closed.is_none() {
            let marked = self.journal.mark();
            self.must(marked);
        }
    }

    /// The commits so far are durable. But a device that has failed once may say the next time that all is well.
    fn must(&mut self, done: std::io::Result<()>) {
        if let Err(error) = done {
            let reason = failed(&format!("the journal could not be written: {error}"));
            self.stop(&reason);
            tracing::error!(store = %self.store.display(), "the store takes no more: {reason}");
        }
    }

    /// Carries everything into sled and lets go. Once is enough; after a failed write there is nothing to do
    /// but to let go.
    pub(super) fn close(&mut self) -> Result<(), StoreError> {
        let Some(lock) = self.lock.take() else {
            return Ok(());
        };
        let failed = self.closed.is_some();
        self.closed
            .get_or_insert_with(|| "it was asked to close".into());
        let result = self.let_go(failed);
        drop(lock);
        result
    }

    fn let_go(&mut self, failed: bool) -> Result<(), StoreError> {
        let io = |what: &str, error: &dyn std::fmt::Display| StoreError::Io {
            what: what.into(),
            error: error.to_string(),
        };
        self.shared.progress.close();
        if let Some(applier) = self.applier.take() {
            // One that panicked has said so.
            let _ = applier.join();
        }
        self.shared.overlay.close("it was asked to close");
        let what = "sled did not let go of its files";
        if !lock::wait_for_sled(&folder::db(&self.store)).map_err(|error| io(what, &error))? {
            return Err(io(what, &"its lock is still held"));
        }
        if let Some(error) = self.shared.progress.failure() {
            return Err(io("sled failed", &error));
        }
        if failed {
            return Ok(());
        }
        let taken = self.shared.taken.held();
        let state = State {
            commit: self.commit,
            clean: true,
            taken: taken.commit,
            tallies: taken.tallies.clone(),
            ..self.state.clone()
        };
        self.journal
            .recycle(self.commit)
            .and_then(|()| self.journal.sync())
            .and_then(|()| folder::sync_all(&folder::sled(&self.store)))
            .and_then(|()| state.write(&self.store))
            .map_err(|error| io("the store could not be marked as closed", &error))
    }
}

/// What a write comes to.
pub(super) struct Resolution<T> {
    pub(super) step: Step,
    /// The record of the run as it leaves it; of one that is gone `None`.
    pub(super) record: Option<(RunKey, Option<RunRecord>)>,
    /// The records of other runs as it leaves them.
    pub(super) also: Vec<(RunKey, RunRecord)>,
    /// How many attempts it records.
    pub(super) attempts: u32,
    /// How many owners it makes.
    pub(super) owners: u64,
    /// How many runs more there are.
    pub(super) runs: i64,
    pub(super) answer: T,
}

impl<T> Resolution<T> {
    /// It leaves that record of a run.
    pub(super) fn with_record(self, run: &RunKey, record: RunRecord) -> Self {
        Self {
            record: Some((run.clone(), Some(record))),
            ..self
        }
    }

    /// The same with another answer.
    pub(super) fn map<U>(self, answer: impl FnOnce(T) -> U) -> Resolution<U> {
        Resolution {
            step: self.step,
            record: self.record,
            also: self.also,
            attempts: self.attempts,
            owners: self.owners,
            runs: self.runs,
            answer: answer(self.answer),
        }
    }

    /// Nothing is written.
    pub(super) fn nothing(answer: T) -> Self {
        Self {
            step: Step::default(),
            record: None,
            also: Vec::new(),
            attempts: 0,
            owners: 0,
            runs: 0,
            answer,
        }
    }
}
