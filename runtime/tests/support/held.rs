//! A store that can be told to hold what it is handed, so that a test chooses what happens meanwhile, or to
//! refuse it.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub)]

use std::sync::{Arc, Mutex};

use perennial::history::Unit;
use perennial::{Namespace, RunId, RunKey, Timestamp};
use perennial_runtime::Profile;
use perennial_runtime::store::{
    Ack, AttemptRecord, Commit, Committed, Create, Created, Deliver, Delivered, DueTimer,
    FinishedRun, Head, KeyRecord, ListQuery, Loaded, MemoryStore, Migrate, Offer, Owner, Page,
    ProgramRecord, Progress, Purge, Remains, Restore, Store, StoreError, StreamItem, ViewRecord,
    Waiting,
};
use tokio::sync::Semaphore;

type Held = Box<dyn FnOnce() + Send>;

/// See the module.
pub struct HeldStore {
    inner: MemoryStore,
    state: Mutex<State>,
    /// Has a permit for each write that is held.
    pub holds: Semaphore,
}

#[derive(Default)]
struct State {
    holding: bool,
    held: Vec<Held>,
    fate: Option<StoreError>,
    panics: bool,
    before_history: Option<Held>,
    deliveries: Deliveries,
    answers: Answers,
}

/// What becomes of the answers to commits and creations that are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answers {
    #[default]
    Pass,
    /// They are held.
    Hold,
    /// The next one is lost: who waits for it is told that nothing is known.
    Lose,
}

/// What becomes of deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Deliveries {
    #[default]
    Pass,
    /// They are held.
    Hold,
    /// They are done, and their answers are held.
    HoldAnswers,
}

impl std::fmt::Debug for HeldStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeldStore")
    }
}

impl HeldStore {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStore::new(),
            state: Mutex::default(),
            holds: Semaphore::new(0),
        })
    }

    /// Holds commits and creations from now on.
    pub fn hold(&self) {
        self.state.lock().unwrap().holding = true;
    }

    /// Holds deliveries from now on, as commits are held.
    pub fn hold_deliveries(&self) {
        self.state.lock().unwrap().deliveries = Deliveries::Hold;
    }

    /// Holds the answers to deliveries from now on, which are done.
    pub fn hold_answers(&self) {
        self.state.lock().unwrap().deliveries = Deliveries::HoldAnswers;
    }

    /// Holds the answers to commits and creations from now on, which are done.
    pub fn hold_commit_answers(&self) {
        self.state.lock().unwrap().answers = Answers::Hold;
    }

    /// The next commit or creation is done, and its answer is lost.
    pub fn lose_next_answer(&self) {
        self.state.lock().unwrap().answers = Answers::Lose;
    }

    /// Another owner claims the run, whatever is held.
    pub fn claim_now(&self, run: RunKey, owner: Owner) {
        self.inner
            .claim(run, owner, Box::new(|claimed| drop(claimed.unwrap())));
    }

    fn hold_this(&self, what: impl FnOnce() + Send + 'static) {
        self.state.lock().unwrap().held.push(Box::new(what));
        self.holds.add_permits(1);
    }

    /// Hands over what is held, and holds nothing more.
    pub fn release(&self) {
        let held = {
            let mut state = self.state.lock().unwrap();
            state.holding = false;
            state.deliveries = Deliveries::Pass;
            state.answers = Answers::Pass;
            std::mem::take(&mut state.held)
        };
        held.into_iter().for_each(|write| write());
    }

    /// Hands over the last of what is held.
    pub fn release_last(&self) {
        let last = self.state.lock().unwrap().held.pop().unwrap();
        last();
    }

    /// Hands over the first of what is held.
    pub fn release_first(&self) {
        let first = self.state.lock().unwrap().held.remove(0);
        first();
    }

    /// What is held is lost, as when the power goes, and nothing more is held.
    pub fn drop_held(&self) {
        let held = {
            let mut state = self.state.lock().unwrap();
            state.holding = false;
            state.deliveries = Deliveries::Pass;
            std::mem::take(&mut state.held)
        };
        drop(held);
    }

    /// Before the next history is read, something happens.
    pub fn before_next_history(&self, what: impl FnOnce() + Send + 'static) {
        self.state.lock().unwrap().before_history = Some(Box::new(what));
    }

    /// The next commit or creation is answered with this, and not written.
    pub fn refuse_next(&self, error: StoreError) {
        self.state.lock().unwrap().fate = Some(error);
    }

    /// The next commit or creation panics.
    pub fn panic_at_next(&self) {
        self.state.lock().unwrap().panics = true;
    }
}

/// The store as the runtime gets it.
#[derive(Clone, Debug)]
pub struct Shared(pub Arc<HeldStore>);

impl Shared {
    fn write<T: Send + 'static>(
        &self,
        ack: Ack<T>,
        write: impl FnOnce(&MemoryStore, Ack<T>) + Send + 'static,
    ) {
        let store = Arc::clone(&self.0);
        let mut state = self.0.state.lock().unwrap();
        if std::mem::take(&mut state.panics) {
            drop(state);
            panic!("the store has a fault");
        }
        let fate = state.fate.take();
        let ack: Ack<T> = match state.answers {
            Answers::Pass => ack,
            Answers::Hold => {
                let store = Arc::clone(&self.0);
                Box::new(move |answer| store.hold_this(move || ack(answer)))
            }
            Answers::Lose => {
                state.answers = Answers::Pass;
                let reason = "the answer was lost".into();
                Box::new(move |_| ack(Err(StoreError::Unknown { reason })))
            }
        };
        let all = move || match fate {
            Some(error) => ack(Err(error)),
            None => write(&store.inner, ack),
        };
        if state.holding {
            state.held.push(Box::new(all));
            self.0.holds.add_permits(1);
        } else {
            drop(state);
            all();
        }
    }
}

impl Store for Shared {
    fn profile(&self) -> Profile {
        self.0.inner.profile()
    }
    fn enroll(&self) -> Result<Owner, StoreError> {
        self.0.inner.enroll()
    }
    fn create(&self, create: Create, ack: Ack<Created>) {
        self.write(ack, |store, ack| store.create(create, ack));
    }
    fn commit(&self, commit: Commit, ack: Ack<Committed>) {
        self.write(ack, |store, ack| store.commit(commit, ack));
    }
    fn deliver(&self, deliver: Deliver, ack: Ack<Delivered>) {
        let held = self.0.state.lock().unwrap().deliveries;
        let store = Arc::clone(&self.0);
        match held {
            Deliveries::Pass => self.0.inner.deliver(deliver, ack),
            Deliveries::Hold => self.0.hold_this(move || store.inner.deliver(deliver, ack)),
            Deliveries::HoldAnswers => self.0.inner.deliver(
                deliver,
                Box::new(move |answer| store.hold_this(move || ack(answer))),
            ),
        }
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
        self.0.inner.restore(restore, ack);
    }
    fn record_program(&self, program: ProgramRecord, ack: Ack<()>) {
        self.0.inner.record_program(program, ack);
    }
    fn programs(&self) -> Result<Vec<ProgramRecord>, StoreError> {
        self.0.inner.programs()
    }
    fn head(&self, run: &RunKey) -> Result<Option<Head>, StoreError> {
        self.0.inner.head(run)
    }
    fn load(&self, run: &RunKey) -> Result<Option<Loaded>, StoreError> {
        self.0.inner.load(run)
    }
    fn offer(&self, run: &RunKey, operation: u64) -> Result<Option<Offer>, StoreError> {
        self.0.inner.offer(run, operation)
    }

    fn offers(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<Offer>, StoreError> {
        self.0.inner.offers(run, after, limit)
    }

    fn waiting(
        &self,
        namespace: &Namespace,
        after: Option<(&RunId, u64)>,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError> {
        self.0.inner.waiting(namespace, after, limit)
    }

    fn keys(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<KeyRecord>, StoreError> {
        self.0.inner.keys(run, after, limit)
    }
    fn views(&self, run: &RunKey) -> Result<Vec<ViewRecord>, StoreError> {
        self.0.inner.views(run)
    }
    fn view(&self, run: &RunKey, name: &str) -> Result<Option<ViewRecord>, StoreError> {
        self.0.inner.view(run, name)
    }
    fn stream(
        &self,
        run: &RunKey,
        name: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StreamItem>, StoreError> {
        self.0.inner.stream(run, name, after, limit)
    }
    fn history(
        &self,
        run: &RunKey,
        generation: u64,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Unit>, StoreError> {
        let before = self.0.state.lock().unwrap().before_history.take();
        if let Some(before) = before {
            before();
        }
        self.0.inner.history(run, generation, from, limit)
    }
    fn attempts(&self, run: &RunKey, generation: u64) -> Result<Vec<AttemptRecord>, StoreError> {
        self.0.inner.attempts(run, generation)
    }
    fn due(&self, after: Option<&DueTimer>, limit: usize) -> Result<Vec<DueTimer>, StoreError> {
        self.0.inner.due(after, limit)
    }
    fn claimable(
        &self,
        artifact: &str,
        after: Option<&RunKey>,
        limit: usize,
    ) -> Result<Vec<RunKey>, StoreError> {
        self.0.inner.claimable(artifact, after, limit)
    }
    fn finished(
        &self,
        remains: Remains,
        before: Timestamp,
        after: Option<&FinishedRun>,
        limit: usize,
    ) -> Result<Vec<FinishedRun>, StoreError> {
        self.0.inner.finished(remains, before, after, limit)
    }
    fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        self.0.inner.list(query)
    }
    fn namespaces(
        &self,
        after: Option<&Namespace>,
        limit: usize,
    ) -> Result<Vec<Namespace>, StoreError> {
        self.0.inner.namespaces(after, limit)
    }
    /// A test may start another runtime over it.
    fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
