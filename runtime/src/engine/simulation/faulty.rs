//! The store of a world: another one, whose writes are done when the world says so, in the order in which they were
//! handed over; and its faults, which must be found.

use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perennial::history::{Observation, Unit};
use perennial::{Namespace, RunId, RunKey, Timestamp};

use super::faults::{self, Fault, NOWHERE};
use crate::Profile;
use crate::store::{
    Ack, AttemptRecord, BlockedRecord, Commit, Committed, Create, Created, Deliver, Delivered,
    DueTimer, FinishedRun, Head, KeyRecord, ListQuery, Loaded, Migrate, Offer, Owner, Page,
    ProgramRecord, Progress, Purge, Refusal, Remains, Restore, Store, StoreError, StreamItem,
    Waiting,
};

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

/// A write that was handed over.
struct Write {
    what: String,
    go: Box<Go>,
}

type Go = dyn FnOnce(&dyn Store, Fate) + Send;

/// What becomes of a write that the process waits for within the call.
pub(super) type AtOnce = Arc<dyn Fn(&str) -> Fate + Send + Sync>;

/// See the module.
#[derive(Clone)]
pub(super) struct FaultyStore {
    inner: Arc<dyn Store>,
    writes: Arc<Mutex<VecDeque<Write>>>,
    at_once: AtOnce,
    fault: Option<Fault>,
    /// Of how many things it was asked whether they suffer from the fault.
    asked: Arc<Mutex<u64>>,
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyStore")
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

fn unknown() -> StoreError {
    StoreError::Unknown {
        reason: "the world has it so".into(),
    }
}

/// Does a write, and waits until it is done.
fn done<T: Send + 'static>(
    inner: &dyn Store,
    write: impl FnOnce(&dyn Store, Ack<T>),
) -> Result<T, StoreError> {
    let (answer, answered) = sync_channel(1);
    write(inner, Box::new(move |result| drop(answer.send(result))));
    answered.recv().unwrap_or_else(|_| Err(unknown()))
}

/// What becomes of a write, and of its answer.
fn settle<T: Send + 'static>(
    fate: Fate,
    ack: Ack<T>,
    inner: &dyn Store,
    write: impl FnOnce(&dyn Store, Ack<T>),
) {
    match fate {
        Fate::Done => ack(done(inner, write)),
        Fate::Unheard => drop(done(inner, write)),
        Fate::Unknown { done: is_done } => {
            if is_done {
                drop(done(inner, write));
            }
            ack(Err(unknown()));
        }
    }
}

impl FaultyStore {
    pub(super) fn new(inner: Arc<dyn Store>, fault: Option<Fault>, at_once: AtOnce) -> Self {
        Self {
            inner,
            writes: Arc::default(),
            at_once,
            fault,
            asked: Arc::default(),
        }
    }

    fn writes(&self) -> MutexGuard<'_, VecDeque<Write>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T: Send + 'static>(
        &self,
        what: String,
        ack: Ack<T>,
        write: impl FnOnce(&dyn Store, Ack<T>) + Send + 'static,
    ) {
        let go = Box::new(move |inner: &dyn Store, fate| settle(fate, ack, inner, write));
        self.writes().push_back(Write { what, go });
    }

    /// Does a write within the call.
    fn now<T>(
        &self,
        what: &str,
        write: impl FnOnce(&dyn Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match (self.at_once)(what) {
            Fate::Done => write(&*self.inner),
            Fate::Unknown { done: false } => Err(unknown()),
            Fate::Unknown { done: true } | Fate::Unheard => {
                drop(write(&*self.inner));
                Err(unknown())
            }
        }
    }

    /// Does the next write. Says which it was, if there was one.
    pub(super) fn go_on(&self, fate: Fate) -> Option<String> {
        let Write { what, go } = self.writes().pop_front()?;
        go(&*self.inner, fate);
        Some(what)
    }

    /// How many writes were handed over and not done.
    pub(super) fn handed_over(&self) -> usize {
        self.writes().len()
    }

    /// Nobody will ask for what was handed over any more.
    pub(super) fn forget(&self) {
        self.writes().clear();
    }

    /// Whether this one is to suffer from the fault.
    fn is_third(&self, fault: Fault) -> bool {
        self.fault == Some(fault) && self.unlucky()
    }

    fn unlucky(&self) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked += 1;
        asked.is_multiple_of(3)
    }

    /// What is answered to a delivery that is not done.
    fn pretended(&self, deliver: &Deliver) -> Delivered {
        let head = self.inner.head(&deliver.run).ok().flatten();
        let wakes = |head: &Head| head.inbox.awaited.wakes(&deliver.observation);
        Delivered {
            arrival: head.as_ref().map_or(NOWHERE, |head| head.arrivals + 1),
            at: deliver.at,
            duplicate: false,
            wakes: head.as_ref().is_some_and(wakes),
        }
    }
}

impl Store for FaultyStore {
    fn profile(&self) -> Profile {
        self.inner.profile()
    }

    fn enroll(&self) -> Result<Owner, StoreError> {
        self.now("the process is enrolled", |inner| inner.enroll())
    }

    fn create(&self, create: Create, ack: Ack<Created>) {
        let what = format!("create of {}", create.run);
        self.write(what, ack, |inner, ack| inner.create(create, ack));
    }

    fn commit(&self, mut commit: Commit, ack: Ack<Committed>) {
        if let Some(fault) = self.fault {
            faults::spoil(fault, &mut commit, || self.unlucky());
        }
        let what = format!("commit of {}", commit.run);
        if self.fault == Some(Fault::KeepsHalf) {
            let go = Box::new(move |inner: &dyn Store, fate| {
                if fate != Fate::Unheard {
                    return settle(fate, ack, inner, |inner, ack| inner.commit(commit, ack));
                }
                for deliver in faults::sent(&commit) {
                    drop(done(inner, |inner, ack| inner.deliver(deliver, ack)));
                }
            });
            return self.writes().push_back(Write { what, go });
        }
        let mut doubled = faults::sent(&commit);
        doubled.retain(|_| self.is_third(Fault::DoublesWhatARunSends));
        self.write(what, ack, move |inner, ack| {
            for deliver in doubled {
                inner.deliver(deliver, Box::new(drop));
            }
            inner.commit(commit, ack);
        });
    }

    fn deliver(&self, mut deliver: Deliver, ack: Ack<Delivered>) {
        let is_message = matches!(deliver.observation, Observation::MessageArrived(_));
        let is_value = faults::is_value(&deliver);
        let loses = (is_message && self.is_third(Fault::LosesAMessage))
            || (is_value && self.is_third(Fault::LosesAValue));
        let doubles = is_message && self.is_third(Fault::DoublesAMessage);
        let takes_all = self.fault == Some(Fault::AcknowledgesASecondValue);
        if self.fault == Some(Fault::ForgetsKeys) {
            deliver.key = None;
        }
        let what = format!("delivery to {}", deliver.run);
        if self.fault == Some(Fault::AnswersEarly) {
            ack(Ok(self.pretended(&deliver)));
            let nobody: Ack<Delivered> = Box::new(drop);
            return self.write(what, nobody, |inner, ack| inner.deliver(deliver, ack));
        }
        let pretended = Delivered {
            arrival: NOWHERE,
            at: deliver.at,
            duplicate: false,
            wakes: false,
        };
        self.write(what, ack, move |inner, ack| {
            if loses {
                return ack(Ok(pretended));
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
            if !takes_all {
                return inner.deliver(deliver, ack);
            }
            let taken = move |result| match result {
                Err(StoreError::Refused(Refusal::OfferTaken(_))) => ack(Ok(pretended)),
                result => ack(result),
            };
            inner.deliver(deliver, Box::new(taken));
        });
    }

    fn claim(&self, run: RunKey, owner: Owner, ack: Ack<Head>) {
        let what = format!("claim of {run}");
        self.write(what, ack, move |inner, ack| inner.claim(run, owner, ack));
    }

    fn migrate(&self, migrate: Migrate, ack: Ack<Created>) {
        let what = "a migration".to_owned();
        self.write(what, ack, |inner, ack| inner.migrate(migrate, ack));
    }

    fn purge(&self, purge: Purge, ack: Ack<Progress>) {
        let what = "a purge".to_owned();
        self.write(what, ack, |inner, ack| inner.purge(purge, ack));
    }

    fn restore(&self, restore: Restore, ack: Ack<Progress>) {
        let what = "a restore".to_owned();
        self.write(what, ack, |inner, ack| inner.restore(restore, ack));
    }

    /// A program waits for it when it starts.
    fn record_program(&self, program: ProgramRecord, ack: Ack<()>) {
        ack(self.now("the program is noted", |inner| {
            done(inner, |inner, ack| inner.record_program(program, ack))
        }));
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

    fn offer(&self, run: &RunKey, operation: u64) -> Result<Option<Offer>, StoreError> {
        self.inner.offer(run, operation)
    }

    fn offers(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<Offer>, StoreError> {
        self.inner.offers(run, after, limit)
    }

    fn waiting(
        &self,
        namespace: &Namespace,
        after: Option<(&RunId, u64)>,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError> {
        self.inner.waiting(namespace, after, limit)
    }

    fn keys(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<KeyRecord>, StoreError> {
        self.inner.keys(run, after, limit)
    }

    fn stream(
        &self,
        run: &RunKey,
        name: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StreamItem>, StoreError> {
        let after = match self.fault {
            Some(Fault::SkipsAnItem) if after > 0 => after + 1,
            Some(Fault::RepeatsAnItem) => after.saturating_sub(1),
            _ => after,
        };
        self.inner.stream(run, name, after, limit)
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
