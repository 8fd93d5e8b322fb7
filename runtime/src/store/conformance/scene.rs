//! What the properties are told with: a store, an owner, and writes that wait for their answers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use perennial::history::{CallSite, Decision, Observation, SEMANTICS, Started, Unit};
use perennial::value::Value;
use perennial::{ActivityOptions, Class, RunKey, Timestamp};

use super::{Damage, Factory, Fixture};
use crate::store::{
    Ack, Changes, Commit, Committed, Create, Created, Deliver, Delivered, Fence, Head, Keep,
    Loaded, Migrate, Owner, ProgramRecord, Progress, Purge, Restore, Status, Store, StoreError,
    Task, TaskChange,
};

/// The answer to a write that was handed over.
pub(super) struct Answer<T>(Receiver<Result<T, StoreError>>);

impl<T> Answer<T> {
    pub(super) fn wait(self) -> Result<T, StoreError> {
        match self.0.recv() {
            Ok(answer) => answer,
            Err(_) => panic!("the store dropped an ack without calling it"),
        }
    }
}

pub(super) fn ack<T: Send + 'static>() -> (Ack<T>, Answer<T>) {
    let (answer, answered) = channel();
    (
        Box::new(move |result| drop(answer.send(result))),
        Answer(answered),
    )
}

/// What a read or write that must succeed gave.
#[track_caller]
pub(super) fn ok<T>(result: Result<T, StoreError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("this must succeed, but: {error}"),
    }
}

/// A store, and an owner in it.
pub(super) struct Scene {
    fixture: Box<dyn Fixture>,
    pub(super) store: Arc<dyn Store>,
    pub(super) owner: Owner,
}

impl Scene {
    pub(super) fn new(factory: Factory<'_>) -> Self {
        let fixture = factory();
        let store = fixture.store();
        let owner = ok(store.enroll());
        Self {
            fixture,
            store,
            owner,
        }
    }

    /// `false`: this store leaves nothing behind.
    pub(super) fn reopen(self) -> Option<Self> {
        let Self {
            mut fixture,
            store,
            owner,
        } = self;
        drop(store);
        fixture.reopen().then(|| Self {
            store: fixture.store(),
            fixture,
            owner,
        })
    }

    pub(super) fn damage(&self, damage: Damage<'_>) -> bool {
        self.fixture.damage(damage)
    }

    pub(super) fn create(&self, create: Create) -> Result<Created, StoreError> {
        let (ack, answer) = ack();
        self.store.create(create, ack);
        answer.wait()
    }

    pub(super) fn hand_over(&self, commit: Commit) -> Answer<Committed> {
        let (ack, answer) = ack();
        self.store.commit(commit, ack);
        answer
    }

    pub(super) fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        self.hand_over(commit).wait().map(drop)
    }

    pub(super) fn deliver(&self, deliver: Deliver) -> Result<u64, StoreError> {
        self.send(deliver).map(|delivered| delivered.arrival)
    }

    pub(super) fn send(&self, deliver: Deliver) -> Result<Delivered, StoreError> {
        let (ack, answer) = ack();
        self.store.deliver(deliver, ack);
        answer.wait()
    }

    pub(super) fn claim(&self, run: &RunKey, owner: Owner) -> Result<Head, StoreError> {
        let (ack, answer) = ack();
        self.store.claim(run.clone(), owner, ack);
        answer.wait()
    }

    pub(super) fn migrate(&self, migrate: Migrate) -> Result<Created, StoreError> {
        let (ack, answer) = ack();
        self.store.migrate(migrate, ack);
        answer.wait()
    }

    pub(super) fn purge(&self, purge: Purge) -> Result<Progress, StoreError> {
        let (ack, answer) = ack();
        self.store.purge(purge, ack);
        answer.wait()
    }

    pub(super) fn restore(&self, restore: Restore) -> Result<Progress, StoreError> {
        let (ack, answer) = ack();
        self.store.restore(restore, ack);
        answer.wait()
    }

    pub(super) fn record_program(&self, program: ProgramRecord) -> Result<(), StoreError> {
        let (ack, answer) = ack();
        self.store.record_program(program, ack);
        answer.wait()
    }

    /// A run with nothing but its first event.
    pub(super) fn begin(&self, name: &str) -> Run<'_> {
        self.begin_in("default", name)
    }

    pub(super) fn begin_in(&self, namespace: &str, name: &str) -> Run<'_> {
        let key = key_in(namespace, name);
        let changes = Changes {
            units: vec![first_unit(&key, 1)],
            stamp: at(1),
            ..Changes::default()
        };
        match ok(self.create(create(&key, self.owner, changes))) {
            Created::New(head, _) => Run {
                scene: self,
                key,
                head,
            },
            Created::Exists(_) => panic!("{key} exists already"),
        }
    }

    pub(super) fn load(&self, key: &RunKey) -> Loaded {
        match ok(self.store.load(key)) {
            Some(loaded) => loaded,
            None => panic!("{key} is not there"),
        }
    }

    /// All units of a generation.
    pub(super) fn units(&self, key: &RunKey, generation: u64) -> Vec<Unit> {
        ok(self.store.history(key, generation, 1, usize::MAX))
    }
}

/// A run, as its owner knows it.
pub(super) struct Run<'a> {
    pub(super) scene: &'a Scene,
    pub(super) key: RunKey,
    pub(super) head: Head,
}

impl Run<'_> {
    /// A commit of `changes` on what is known of the run.
    pub(super) fn commit_of(&self, changes: Changes) -> Commit {
        Commit {
            run: self.key.clone(),
            fence: self.head.fence,
            generation: self.head.generation,
            sequence: self.head.sequence,
            changes,
        }
    }

    pub(super) fn try_commit(&mut self, changes: Changes) -> Result<(), StoreError> {
        let last = changes.units.last().map(Unit::last);
        self.scene.commit(self.commit_of(changes))?;
        self.head.sequence = last.unwrap_or(self.head.sequence);
        Ok(())
    }

    #[track_caller]
    pub(super) fn commit(&mut self, changes: Changes) {
        ok(self.try_commit(changes));
    }

    /// The next unit: a timer fires, and so many values are recorded.
    pub(super) fn next_unit(&self, decisions: usize) -> Unit {
        unit(self.head.sequence + 1, decisions)
    }

    /// Commits so many units of one event each.
    pub(super) fn grow(&mut self, units: u64) {
        let first = self.head.sequence + 1;
        self.commit(Changes {
            units: (first..first + units)
                .map(|number| unit(number, 0))
                .collect(),
            ..no_changes()
        });
    }

    /// Ends the run.
    pub(super) fn end(&mut self) {
        let mut unit = self.next_unit(0);
        unit.decisions.push(Decision::Completed {
            value: Value::null(),
            open: Vec::new(),
        });
        self.commit(Changes {
            units: vec![unit],
            status: Some(Status::Completed),
            ..no_changes()
        });
        self.head.status = Status::Completed;
    }

    /// Begins the next generation, with its first event.
    pub(super) fn begin_anew(&mut self) {
        let generation = self.head.generation;
        let changes = Changes {
            units: vec![first_unit(&self.key, generation + 1)],
            ..no_changes()
        };
        let create = Create {
            after: Some(generation),
            ..create(&self.key, self.scene.owner, changes)
        };
        match ok(self.scene.create(create)) {
            Created::New(head, _) => self.head = head,
            Created::Exists(head) => panic!("{} does not begin anew: {head:?}", self.key),
        }
    }

    /// A purge that leaves the head, of at most so many records a slice.
    pub(super) fn purge_of(&self, limit: usize) -> Purge {
        Purge {
            run: self.key.clone(),
            generation: self.head.generation,
            sequence: self.head.sequence,
            keep: Keep::Head,
            at: at(50),
            limit,
        }
    }

    /// Purges it to the end.
    pub(super) fn purge(&self, keep: Keep) {
        let purge = Purge {
            keep,
            ..self.purge_of(100)
        };
        while ok(self.scene.purge(purge.clone())) == Progress::More {}
    }

    pub(super) fn deliver(&self, operation: u64) -> Result<u64, StoreError> {
        self.scene.deliver(deliver(&self.key, operation, at(1)))
    }

    pub(super) fn load(&self) -> Loaded {
        self.scene.load(&self.key)
    }
}

pub(super) fn at(milliseconds: u64) -> Timestamp {
    Timestamp::from_millis(milliseconds)
}

pub(super) fn key(name: &str) -> RunKey {
    key_in("default", name)
}

pub(super) fn key_in(namespace: &str, name: &str) -> RunKey {
    match (namespace.parse(), name.parse()) {
        (Ok(namespace), Ok(id)) => RunKey::new(namespace, id),
        _ => panic!("{namespace}/{name} is no run"),
    }
}

pub(super) fn no_changes() -> Changes {
    Changes {
        stamp: at(1),
        ..Changes::default()
    }
}

pub(super) fn create(key: &RunKey, owner: Owner, changes: Changes) -> Create {
    let input = Value::null().digest();
    Create {
        run: key.clone(),
        workflow: "order".into(),
        input,
        after: None,
        owner,
        changes,
        keys: Vec::new(),
    }
}

pub(super) fn deliver(key: &RunKey, operation: u64, at: Timestamp) -> Deliver {
    Deliver {
        run: key.clone(),
        observation: completed(operation, Value::null()),
        at,
        tasks: Vec::new(),
        key: None,
        stub: None,
    }
}

pub(super) fn completed(operation: u64, result: Value) -> Observation {
    Observation::ActivityCompleted { operation, result }
}

pub(super) fn first_unit(key: &RunKey, generation: u64) -> Unit {
    let started = Started {
        workflow: "order".into(),
        input: Value::null(),
        semantics: SEMANTICS,
        artifact: "test".into(),
        namespace: key.namespace.clone(),
        run: key.id.clone(),
        generation,
        first_operation: 1,
        version: None,
        migrated_from: None,
        forked_from: Vec::new(),
        streams: Vec::new(),
    };
    Unit {
        number: 1,
        at: at(1),
        observation: Observation::Started(started),
        decisions: Vec::new(),
    }
}

pub(super) fn unit(number: u64, decisions: usize) -> Unit {
    let site = CallSite {
        file: "src/order.rs".into(),
        line: 7,
        column: 3,
        function: "order".into(),
    };
    let decision = Decision::TimerStarted {
        operation: number,
        deadline: at(number),
        site: Some(site),
    };
    let decisions = vec![decision; decisions];
    Unit {
        number,
        at: at(1),
        observation: Observation::TimerFired { operation: number },
        decisions,
    }
}

/// A value whose text has so many bytes.
pub(super) fn value(bytes: usize) -> Value {
    match Value::from_json(format!("\"{}\"", "x".repeat(bytes - 2))) {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn task(operation: u64) -> Task {
    Task {
        operation,
        unit: 1,
        name: "charge".into(),
        options: ActivityOptions::new(Class::Idempotent),
        attempt: 1,
        generation: 1,
        lost: 0,
        started: None,
        not_before: at(1),
        scheduled: at(1),
        last_failure: None,
    }
}

pub(super) fn put(operation: u64) -> TaskChange {
    TaskChange::Put(task(operation))
}

pub(super) fn raised(fence: Fence) -> Fence {
    Fence(fence.0 + 1)
}
