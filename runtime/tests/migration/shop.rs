//! Two programs over one store: the first has `order`, the second has changed it and has `order_v2`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perennial::prelude::*;
use perennial::{Namespace, RunKey};
use perennial_runtime::store::{Durability, SledStore, Store};
use perennial_runtime::{Builder, Client, RunError, RunHandle, Runtime};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::support::clock::Set;
use crate::support::held::{HeldStore, Shared};

/// What the activities touch, and how a test steers them.
pub(crate) struct World {
    pub(crate) charged: AtomicU32,
    /// `pack` takes a permit for each execution.
    pub(crate) gate: Semaphore,
    /// Is told of each execution of `pack`.
    pub(crate) began: Semaphore,
    /// `label` takes a permit for each execution.
    pub(crate) labels: Semaphore,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            charged: AtomicU32::new(0),
            gate: Semaphore::new(0),
            began: Semaphore::new(0),
            labels: Semaphore::new(0),
        })
    }

    pub(crate) async fn pack_begins(&self) {
        self.began.acquire().await.unwrap().forget();
    }

    pub(crate) fn let_pack(&self) {
        self.gate.add_permits(1);
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) cents: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OrderV2 {
    pub(crate) order: Order,
    pub(crate) receipt: Option<u64>,
    pub(crate) packed: Option<String>,
}

#[activity(idempotent)]
pub(crate) async fn charge(acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    let world = acx.state::<Arc<World>>();
    world.charged.fetch_add(1, Ordering::SeqCst);
    Ok(cents)
}

#[activity(idempotent)]
pub(crate) async fn pack(acx: &ActivityCx, order: String) -> Result<String, Failure> {
    let world = acx.state::<Arc<World>>();
    world.began.add_permits(1);
    world.gate.acquire().await?.forget();
    Ok(format!("{order} in a box"))
}

#[activity(idempotent)]
pub(crate) async fn label(acx: &ActivityCx) -> Result<(), Failure> {
    let world = acx.state::<Arc<World>>();
    world.labels.acquire().await?.forget();
    Ok(())
}

#[activity(pure)]
pub(crate) async fn weigh(_acx: &ActivityCx, order: String) -> Result<usize, Failure> {
    Ok(order.len())
}

/// What the first program has.
#[workflow]
pub(crate) async fn order(cx: &Cx, order: Order) -> Result<u64, Error> {
    let receipt = charge(cx, order.cents).await?;
    let (packed, labelled, slept) = join!(pack(cx, order.id), label(cx), cx.sleep(days(30)));
    packed?;
    labelled?;
    slept?;
    Ok(receipt)
}

pub(crate) mod next {
    use super::*;

    /// The same, with a step before the others: runs in flight do not fit.
    #[workflow(name = "order")]
    pub(crate) async fn order(cx: &Cx, order: Order) -> Result<u64, Error> {
        weigh(cx, order.id.clone()).await?;
        let receipt = charge(cx, order.cents).await?;
        pack(cx, order.id).await?;
        Ok(receipt)
    }

    #[workflow(version = 2)]
    pub(crate) async fn order_v2(cx: &Cx, input: OrderV2) -> Result<String, Error> {
        weigh(cx, input.order.id.clone()).await?;
        let receipt = match input.receipt {
            Some(receipt) => receipt,
            None => charge(cx, input.order.cents).await?,
        };
        let packed = input.packed.unwrap_or_else(|| "nothing".to_owned());
        Ok(format!("{packed} for {receipt}"))
    }
}

pub(crate) use next::order_v2;

fn moved(old: &OldRun) -> Result<OrderV2, Refuse> {
    Ok(OrderV2 {
        order: old.input()?,
        receipt: old.last_result(charge)?,
        packed: old.last_result(pack)?,
    })
}

/// Says something of all that may be open.
#[migration(from = next::order, to = next::order_v2)]
pub(crate) fn to_v2(old: &OldRun) -> Result<OrderV2, Refuse> {
    old.keep(pack);
    old.keep(label);
    old.stop_timers();
    moved(old)
}

/// Says nothing of what is open.
#[migration(from = next::order, to = next::order_v2)]
pub(crate) fn careless(old: &OldRun) -> Result<OrderV2, Refuse> {
    moved(old)
}

pub(crate) fn an_order() -> Order {
    Order {
        id: "A-1".into(),
        cents: 12,
    }
}

/// A store that outlives its runtimes.
pub(crate) enum Place {
    Memory(Arc<HeldStore>),
    Folder(tempfile::TempDir),
}

impl Place {
    pub(crate) fn builder(&self) -> Builder {
        match self {
            Self::Memory(store) => Runtime::builder(Shared(Arc::clone(store))),
            Self::Folder(folder) => Runtime::builder(folder.path()).durability(Durability::Os),
        }
    }

    /// The program that the runs were begun by.
    pub(crate) async fn first(&self, world: &Arc<World>) -> Runtime {
        self.program(world, "first")
            .workflow(order)
            .start()
            .await
            .unwrap()
    }

    /// The one that they do not fit: as soon as one of them is told something, that a label was made, it is
    /// blocked.
    pub(crate) async fn second(&self, world: &Arc<World>) -> Runtime {
        world.labels.add_permits(1);
        let builder = self.program(world, "second");
        let builder = builder.workflow(next::order).workflow(order_v2);
        builder.migration(to_v2).start().await.unwrap()
    }

    /// One that has the workflow as it was and the one that runs are moved to.
    pub(crate) fn both(&self, world: &Arc<World>) -> Builder {
        let builder = self.program(world, "both");
        builder.workflow(order).workflow(order_v2)
    }

    pub(crate) fn program(&self, world: &Arc<World>, artifact: &str) -> Builder {
        self.builder()
            .activities((charge, pack, label, weigh))
            .state(Arc::clone(world))
            .clock(Set::new())
            .artifact(artifact)
    }

    /// The store, for a look at it while no runtime has it.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&dyn Store) -> T) -> T {
        match self {
            Self::Memory(store) => look(&Shared(Arc::clone(store))),
            Self::Folder(folder) => look(&open(folder.path())),
        }
    }
}

fn open(folder: &Path) -> SledStore {
    let options = SledStore::options().durability(Durability::Os);
    options.open(folder).unwrap()
}

/// Runs a test at each place.
pub(crate) async fn each_place(test: impl AsyncFn(Place)) {
    test(Place::Memory(HeldStore::new())).await;
    test(Place::Folder(tempfile::tempdir().unwrap())).await;
}

pub(crate) fn key(id: &str) -> RunKey {
    RunKey::new(Namespace::default(), id.parse().unwrap())
}

/// `order-42` of the first program has charged and packs, and is not let to. That program is gone, and the second
/// one is there.
pub(crate) async fn packing(place: &Place, world: &Arc<World>) -> Runtime {
    let runtime = place.first(world).await;
    let client = runtime.client();
    client.start(order, "order-42", an_order()).await.unwrap();
    world.pack_begins().await;
    drop(runtime);
    place.second(world).await
}

/// The same, and the second program has found that it cannot go on with the run.
pub(crate) async fn blocked(place: &Place, world: &Arc<World>) -> Runtime {
    let runtime = packing(place, world).await;
    let run = runtime.client().run(next::order, "order-42").unwrap();
    assert!(matches!(run.result().await, Err(RunError::Blocked { .. })));
    runtime
}

/// Moves it.
pub(crate) async fn move_it(client: &Client) -> RunHandle<order_v2> {
    let moved = client.migrate("order-42", to_v2, "order-42-v2").await;
    moved.unwrap()
}
