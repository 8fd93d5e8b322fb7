//! Where the runs are kept while one program after the other is deployed, and what the activities touch.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use perennial::history::encode_unit;
use perennial::prelude::*;
use perennial::{Namespace, RunKey};
use perennial_runtime::store::{Durability, Loaded, SledStore, Store};
use perennial_runtime::{Builder, RunError, Runtime};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::support::clock::Set;
use crate::support::held::{HeldStore, Shared};

/// What the activities touch, and how the test steers them.
pub(crate) struct World {
    /// How often each activity was executed.
    pub(crate) executed: Mutex<BTreeMap<&'static str, u32>>,
    /// What time it is. It is set on where timers that were started are to be due.
    pub(crate) clock: Set,
    /// `check` takes a permit for each execution.
    pub(crate) gate: Semaphore,
    /// Is told of each execution of `check`.
    pub(crate) began: Semaphore,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            executed: Mutex::default(),
            clock: Set::new(),
            gate: Semaphore::new(0),
            began: Semaphore::new(0),
        })
    }

    fn execute(&self, activity: &'static str) {
        *self.executed.lock().unwrap().entry(activity).or_default() += 1;
    }

    pub(crate) fn executions(&self, activity: &str) -> u32 {
        let executed = self.executed.lock().unwrap();
        executed.get(activity).copied().unwrap_or_default()
    }
}

#[activity(pure)]
pub(crate) async fn add(acx: &ActivityCx, a: u64, b: u64) -> Result<u64, Failure> {
    acx.state::<Arc<World>>().execute("add");
    Ok(a + b)
}

#[activity(idempotent)]
pub(crate) async fn charge(acx: &ActivityCx, amount: u64) -> Result<u64, Failure> {
    acx.state::<Arc<World>>().execute("charge");
    Ok(amount)
}

#[activity(idempotent)]
pub(crate) async fn refund(acx: &ActivityCx, amount: u64) -> Result<u64, Failure> {
    acx.state::<Arc<World>>().execute("refund");
    Ok(amount)
}

/// Takes a permit, and fails the first time that it has one.
#[activity(idempotent, retry(initial = "1ms"))]
pub(crate) async fn check(acx: &ActivityCx) -> Result<u64, Failure> {
    let world = acx.state::<Arc<World>>();
    world.execute("check");
    world.began.add_permits(1);
    world.gate.acquire().await?.forget();
    world.execute("let through");
    if world.executions("let through") == 1 {
        return Err(Failure::transient("not yet"));
    }
    Ok(7)
}

/// Waits for `check`, and for a time at which whoever goes on with the run has something to tell it.
#[durable]
pub(crate) async fn checked(cx: &Cx) -> Result<u64, Error> {
    let nap = async { cx.sleep(hours(1)).await.map_err(Error::from) };
    let checking = async { check(cx).await.map_err(Error::from) };
    let ((), checked) = try_join!(nap, checking)?;
    Ok(checked)
}

/// A store that programs open one after the other.
pub(crate) enum Place {
    Memory(Shared),
    Folder(TempDir),
}

impl Place {
    pub(crate) fn both() -> [Self; 2] {
        [
            Self::Memory(Shared(HeldStore::new())),
            Self::Folder(tempfile::tempdir().unwrap()),
        ]
    }

    /// A store of the folder belongs to one process at a time: whoever had it before is gone.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::new(store.clone()),
            Self::Folder(folder) => {
                let options = SledStore::options().durability(Durability::Os);
                Arc::new(options.open(folder.path()).unwrap())
            }
        }
    }

    /// Looks at what is stored, while no program has it.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&dyn Store) -> T) -> T {
        let store = self.store();
        let seen = look(&*store);
        store.close().unwrap();
        seen
    }
}

/// A program with all activities, over a store that the test looks at too.
pub(crate) fn program(store: &Arc<dyn Store>, world: &Arc<World>, artifact: &str) -> Builder {
    Runtime::builder(Arc::clone(store))
        .activities((add, charge, refund, check))
        .state(Arc::clone(world))
        .clock(world.clock.clone())
        .shards(2)
        .artifact(artifact)
}

pub(crate) fn key(id: &str) -> RunKey {
    RunKey::new(Namespace::default(), id.parse().unwrap())
}

/// The bytes of a run's history.
pub(crate) fn bytes(store: &dyn Store, id: &str) -> Vec<Vec<u8>> {
    let units = store.history(&key(id), 1, 1, usize::MAX).unwrap();
    units.iter().map(encode_unit).collect()
}

pub(crate) fn loaded(store: &dyn Store, id: &str) -> Loaded {
    store.load(&key(id)).unwrap().unwrap()
}

/// Goes on once what is stored is as it should be.
pub(crate) async fn until(what: impl Fn() -> bool) {
    while !what() {
        tokio::task::yield_now().await;
    }
}

/// The code that a run is blocked with.
#[track_caller]
pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, RunError<Error>>) -> String {
    match result {
        Err(RunError::Blocked { code, .. }) => code,
        other => panic!("it is blocked, and not {other:?}"),
    }
}
