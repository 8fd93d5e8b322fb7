//! The store of a story: the memory store, whose writes are done when the story says so, in the order in which they were
//! handed over; and its faults, which the judge must find.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perennial::history::{Observation, Unit};
use perennial::{Namespace, RunKey, Timestamp};

use crate::Profile;
use crate::store::{
    Ack, AttemptRecord, BlockedRecord, Commit, Committed, Create, Created, Deliver, Delivered,
    DueTimer, FinishedRun, Head, KeyRecord, ListQuery, Loaded, MemoryStore, Migrate, Owner, Page,
    ProgramRecord, Progress, Purge, Remains, Restore, Store, StoreError, TimerChange,
};

/// Something that a store must not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Each fifth message is acknowledged and not kept.
    LosesAMessage,
    /// Each fifth message is there twice.
    DoublesAMessage,
    /// Timers have another deadline than the history.
    RingsEarly,
    /// What was taken out of a queue is there again.
    GivesBackWhatWasTaken,
}

impl Fault {
    pub(super) const ALL: [Self; 4] = [
        Self::LosesAMessage,
        Self::DoublesAMessage,
        Self::RingsEarly,
        Self::GivesBackWhatWasTaken,
    ];
}

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Done,
    /// Whether it was done nobody is told.
    Unknown {
        done: bool,
    },
    /// It is done, and the process that asked is gone.
    Unheard,
}

type Write = Box<dyn FnOnce(&MemoryStore, Fate) + Send>;

/// See the module.
#[derive(Clone)]
pub(super) struct FaultyStore {
    inner: Arc<MemoryStore>,
    writes: Arc<Mutex<VecDeque<Write>>>,
    fault: Option<Fault>,
    /// How many messages were delivered.
    messages: Arc<Mutex<u64>>,
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyStore")
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

impl FaultyStore {
    pub(super) fn new(inner: Arc<MemoryStore>, fault: Option<Fault>) -> Self {
        Self {
            inner,
            writes: Arc::default(),
            fault,
            messages: Arc::default(),
        }
    }

    fn writes(&self) -> MutexGuard<'_, VecDeque<Write>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T: 'static>(
        &self,
        ack: Ack<T>,
        write: impl FnOnce(&MemoryStore, Ack<T>) + Send + 'static,
    ) {
        self.writes().push_back(Box::new(move |inner, fate| {
            let unknown = || StoreError::Unknown {
                reason: "the story has it so".into(),
            };
            match fate {
                Fate::Done => write(inner, ack),
                Fate::Unheard => write(inner, Box::new(drop)),
                Fate::Unknown { done } => {
                    if done {
                        write(inner, Box::new(drop));
                    }
                    ack(Err(unknown()));
                }
            }
        }));
    }

    /// Does the next write. Says whether there was one.
    pub(super) fn go_on(&self, fate: Fate) -> bool {
        let next = self.writes().pop_front();
        let is_there = next.is_some();
        if let Some(write) = next {
            write(&self.inner, fate);
        }
        is_there
    }

    /// Nobody will ask for what was handed over any more.
    pub(super) fn forget(&self) {
        self.writes().clear();
    }

    /// Whether this one is to suffer from the fault.
    fn is_fifth(&self, fault: Fault) -> bool {
        if self.fault != Some(fault) {
            return false;
        }
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        *messages += 1;
        messages.is_multiple_of(5)
    }

    fn spoil(&self, commit: &mut Commit) {
        match self.fault {
            Some(Fault::RingsEarly) => {
                for timer in &mut commit.changes.timers {
                    let (TimerChange::Put { deadline, .. } | TimerChange::Remove { deadline, .. }) =
                        timer;
                    *deadline = *deadline - perennial::millis(5);
                }
            }
            Some(Fault::GivesBackWhatWasTaken) => commit.changes.taken.truncate(1),
            _ => {}
        }
    }
}

impl Store for FaultyStore {
    fn profile(&self) -> Profile {
        self.inner.profile()
    }

    fn enroll(&self) -> Result<Owner, StoreError> {
        self.inner.enroll()
    }

    fn create(&self, create: Create, ack: Ack<Created>) {
        self.write(ack, |inner, ack| inner.create(create, ack));
    }

    fn commit(&self, mut commit: Commit, ack: Ack<Committed>) {
        self.spoil(&mut commit);
        self.write(ack, |inner, ack| inner.commit(commit, ack));
    }

    fn deliver(&self, deliver: Deliver, ack: Ack<Delivered>) {
        let is_message = matches!(deliver.observation, Observation::MessageArrived(_));
        let loses = is_message && self.is_fifth(Fault::LosesAMessage);
        let doubles = is_message && self.is_fifth(Fault::DoublesAMessage);
        self.write(ack, move |inner, ack| {
            if loses {
                return ack(Ok(Delivered {
                    arrival: 1_000,
                    at: deliver.at,
                    duplicate: false,
                    wakes: false,
                }));
            }
            if doubles {
                let key = None;
                inner.deliver(
                    Deliver {
                        key,
                        ..deliver.clone()
                    },
                    Box::new(drop),
                );
            }
            inner.deliver(deliver, ack);
        });
    }

    fn claim(&self, run: RunKey, owner: Owner, ack: Ack<Head>) {
        self.write(ack, move |inner, ack| inner.claim(run, owner, ack));
    }

    fn migrate(&self, migrate: Migrate, ack: Ack<Created>) {
        self.write(ack, |inner, ack| inner.migrate(migrate, ack));
    }

    fn purge(&self, purge: Purge, ack: Ack<Progress>) {
        self.write(ack, |inner, ack| inner.purge(purge, ack));
    }

    fn restore(&self, restore: Restore, ack: Ack<Progress>) {
        self.write(ack, |inner, ack| inner.restore(restore, ack));
    }

    /// A program waits for it when it starts.
    fn record_program(&self, program: ProgramRecord, ack: Ack<()>) {
        self.inner.record_program(program, ack);
    }

    fn programs(&self) -> Result<Vec<ProgramRecord>, StoreError> {
        self.inner.programs()
    }

    fn head(&self, run: &RunKey) -> Result<Option<Head>, StoreError> {
        self.inner.head(run)
    }

    fn load(&self, run: &RunKey) -> Result<Option<Loaded>, StoreError> {
        self.inner.load(run)
    }

    fn blocked(&self, run: &RunKey) -> Result<Vec<BlockedRecord>, StoreError> {
        self.inner.blocked(run)
    }

    fn keys(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<KeyRecord>, StoreError> {
        self.inner.keys(run, after, limit)
    }

    fn history(
        &self,
        run: &RunKey,
        generation: u64,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Unit>, StoreError> {
        self.inner.history(run, generation, from, limit)
    }

    fn attempts(&self, run: &RunKey, generation: u64) -> Result<Vec<AttemptRecord>, StoreError> {
        self.inner.attempts(run, generation)
    }

    fn due(&self, after: Option<&DueTimer>, limit: usize) -> Result<Vec<DueTimer>, StoreError> {
        self.inner.due(after, limit)
    }

    fn claimable(
        &self,
        artifact: &str,
        after: Option<&RunKey>,
        limit: usize,
    ) -> Result<Vec<RunKey>, StoreError> {
        self.inner.claimable(artifact, after, limit)
    }

    fn finished(
        &self,
        remains: Remains,
        before: Timestamp,
        after: Option<&FinishedRun>,
        limit: usize,
    ) -> Result<Vec<FinishedRun>, StoreError> {
        self.inner.finished(remains, before, after, limit)
    }

    fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        self.inner.list(query)
    }

    fn namespaces(
        &self,
        after: Option<&Namespace>,
        limit: usize,
    ) -> Result<Vec<Namespace>, StoreError> {
        self.inner.namespaces(after, limit)
    }

    /// The next process has the same one.
    fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
