//! *Writing a store*.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use perennial::history::Unit;
use perennial::{Namespace, RunId, RunKey, Timestamp};
use perennial_runtime::Profile;
use perennial_runtime::store::{
    Ack, AttemptRecord, Commit, Committed, Create, Created, Deliver, Delivered, DueTimer,
    FinishedRun, Head, KeyRecord, ListQuery, Loaded, Migrate, Offer, Owner, Page, ProgramRecord,
    Progress, Purge, Remains, Restore, Store, StoreError, StreamItem, ViewRecord, Waiting,
};

// ANCHOR: store
/// Puts a thread in front of another store: whoever writes hands over and goes on.
pub struct Queued<S> {
    inner: Arc<S>,
    writes: Sender<Write<S>>,
}

type Write<S> = Box<dyn FnOnce(&S) + Send>;

impl<S: Store> Queued<S> {
    pub fn new(inner: S) -> Self {
        let inner = Arc::new(inner);
        let (writes, taken) = channel::<Write<S>>();
        let store = Arc::clone(&inner);
        // One thread, so that writes take effect in the order in which they were handed over.
        std::thread::spawn(move || taken.into_iter().for_each(|write| write(&store)));
        Self { inner, writes }
    }
    // ANCHOR_END: store

    /// The store behind the queue.
    pub fn behind(&self) -> &S {
        &self.inner
    }

    // ANCHOR: write
    fn write<T: 'static>(&self, ack: Ack<T>, write: impl FnOnce(&S, Ack<T>) + Send + 'static) {
        // The ack goes with the write, and is called once it is durable, not when it was handed over.
        let handed_over = self.writes.send(Box::new(move |store| write(store, ack)));
        if let Err(lost) = handed_over {
            // The thread has ended, which is this store's way to be broken. No ack may be lost.
            (lost.0)(&self.inner);
        }
    }
    // ANCHOR_END: write
}

impl<S> fmt::Debug for Queued<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Queued")
    }
}

// ANCHOR: impl
impl<S: Store> Store for Queued<S> {
    /// A queue keeps what the store behind it keeps, and promises no more.
    fn profile(&self) -> Profile {
        self.inner.profile()
    }

    fn commit(&self, commit: Commit, ack: Ack<Committed>) {
        self.write(ack, |store, ack| store.commit(commit, ack));
    }

    fn head(&self, run: &RunKey) -> Result<Option<Head>, StoreError> {
        self.inner.head(run)
    }

    /// What was handed over before is still written; what comes later is refused.
    fn close(&self) -> Result<(), StoreError> {
        let (closed, answer) = channel();
        let close: Write<S> = Box::new(move |store| drop(closed.send(store.close())));
        match self.writes.send(close) {
            Ok(()) => answer.recv().unwrap_or_else(|_| self.inner.close()),
            Err(_) => self.inner.close(),
        }
    }
    // And so on for the other writes and reads.
    // ANCHOR_END: impl

    fn enroll(&self) -> Result<Owner, StoreError> {
        self.inner.enroll()
    }

    fn create(&self, create: Create, ack: Ack<Created>) {
        self.write(ack, |store, ack| store.create(create, ack));
    }

    fn deliver(&self, deliver: Deliver, ack: Ack<Delivered>) {
        self.write(ack, |store, ack| store.deliver(deliver, ack));
    }

    fn claim(&self, run: RunKey, owner: Owner, ack: Ack<Head>) {
        self.write(ack, move |store, ack| store.claim(run, owner, ack));
    }

    fn migrate(&self, migrate: Migrate, ack: Ack<Created>) {
        self.write(ack, |store, ack| store.migrate(migrate, ack));
    }

    fn purge(&self, purge: Purge, ack: Ack<Progress>) {
        self.write(ack, |store, ack| store.purge(purge, ack));
    }

    fn restore(&self, restore: Restore, ack: Ack<Progress>) {
        self.write(ack, |store, ack| store.restore(restore, ack));
    }

    fn record_program(&self, program: ProgramRecord, ack: Ack<()>) {
        self.write(ack, |store, ack| store.record_program(program, ack));
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

    fn programs(&self) -> Result<Vec<ProgramRecord>, StoreError> {
        self.inner.programs()
    }

    fn load(&self, run: &RunKey) -> Result<Option<Loaded>, StoreError> {
        self.inner.load(run)
    }

    fn keys(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<KeyRecord>, StoreError> {
        self.inner.keys(run, after, limit)
    }

    fn views(&self, run: &RunKey) -> Result<Vec<ViewRecord>, StoreError> {
        self.inner.views(run)
    }

    fn view(&self, run: &RunKey, name: &str) -> Result<Option<ViewRecord>, StoreError> {
        self.inner.view(run, name)
    }

    fn stream(
        &self,
        run: &RunKey,
        name: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StreamItem>, StoreError> {
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
}
