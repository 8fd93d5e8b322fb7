//! The program whose runs are paused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, RunHandle, Runtime};

use crate::support::clock::Set;
pub(crate) use crate::support::waiting::{Gate, soon, until};

pub(crate) const A: Message<u64> = Message::new("a");

/// How the test steers the activities, and how often they ran.
pub(crate) struct World {
    pub(crate) gate: Arc<Gate>,
    pub(crate) counted: AtomicU32,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            gate: Gate::new(),
            counted: AtomicU32::new(0),
        })
    }
}

#[activity(idempotent)]
pub(crate) async fn gated(acx: &ActivityCx) -> Result<(), Failure> {
    acx.state::<Arc<World>>().gate.pass().await;
    Ok(())
}

#[activity(idempotent)]
pub(crate) async fn count(acx: &ActivityCx) -> Result<u32, Failure> {
    let world = acx.state::<Arc<World>>();
    Ok(world.counted.fetch_add(1, Ordering::SeqCst) + 1)
}

/// Takes so many messages, and does something after each.
#[workflow]
pub(crate) async fn several(cx: &Cx, count_to: u64) -> Result<Vec<u64>, Error> {
    let mut all = Vec::new();
    for _ in 0..count_to {
        all.push(cx.receive(A).await?);
        count(cx).await?;
    }
    Ok(all)
}

/// A wait with a time limit, and one without.
#[workflow]
pub(crate) async fn limited(cx: &Cx) -> Result<(Option<u64>, u64), ReceiveError> {
    let first = cx.receive(A).timeout(hours(1)).await?;
    Ok((first, cx.receive(A).await?))
}

/// Does something, and something after that.
#[workflow]
pub(crate) async fn works(cx: &Cx) -> Result<u32, Error> {
    gated(cx).await?;
    Ok(count(cx).await?)
}

#[workflow]
pub(crate) async fn sleeps(cx: &Cx) -> Result<u32, Error> {
    cx.sleep(hours(1)).await?;
    Ok(count(cx).await?)
}

/// Tells another run something.
#[workflow]
pub(crate) async fn tells(cx: &Cx, other: String) -> Result<(), Error> {
    let other = RunId::new(&other).map_err(|error| Error::new(error.to_string()))?;
    cx.send(&other, A, &7).await?;
    Ok(())
}

pub(crate) fn builder(store: Arc<dyn Store>, world: &Arc<World>) -> Builder {
    Runtime::builder(store)
        .workflow(several)
        .workflow(limited)
        .workflow(works)
        .workflow(sleeps)
        .workflow(tells)
        .activities((gated, count))
        .state(Arc::clone(world))
        .artifact("test")
        .shards(1)
}

pub(crate) async fn runtime(store: Arc<dyn Store>, world: &Arc<World>) -> Runtime {
    builder(store, world).start().await.unwrap()
}

/// A runtime whose clock the test sets.
pub(crate) async fn on(clock: &Set, store: Arc<dyn Store>, world: &Arc<World>) -> Runtime {
    let builder = builder(store, world).clock(clock.clone());
    builder.start().await.unwrap()
}

/// How many events the run has, after whatever its shard was told before.
pub(crate) async fn events<W: perennial::Workflow>(run: &RunHandle<W>) -> u64 {
    // The shard answers after all that.
    assert!(run.pause().await.unwrap().already);
    run.status().await.unwrap().events
}

/// Until the run has so many events.
pub(crate) async fn has_events<W: perennial::Workflow>(run: &RunHandle<W>, events: u64) {
    until(async || run.status().await.unwrap().events >= events).await;
}
