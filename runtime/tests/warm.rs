//! What runs hold in memory while nothing happens to them, and what becomes of them when that is too much.
#![allow(clippy::unwrap_used)]

mod support;

use std::alloc::System;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perennial::prelude::*;
use perennial_runtime::store::MemoryStore;
use perennial_runtime::{Client, Runtime};
use support::waiting::soon;
use tokio::sync::{Mutex, Semaphore};

#[global_allocator]
static HEAP: cap::Cap<System> = cap::Cap::new(System, usize::MAX);

/// Others would be on the heap too, and their workflows would count.
static ALONE: Mutex<()> = Mutex::const_new(());

/// How often the code of a workflow has begun, live or in replay.
static BEGUN: AtomicU32 = AtomicU32::new(0);

/// How the test steers the activities.
struct World {
    /// `gated(n)` takes a permit of gate `n`.
    gates: [Semaphore; 2],
    began: Semaphore,
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            gates: std::array::from_fn(|_| Semaphore::new(0)),
            began: Semaphore::new(0),
        })
    }

    /// Until an activity has begun.
    async fn begun(&self) {
        soon(self.began.acquire()).await.unwrap().forget();
    }
}

#[activity(idempotent)]
async fn gated(acx: &ActivityCx, gate: usize) -> Result<(), Failure> {
    let world = acx.state::<Arc<World>>();
    world.began.add_permits(1);
    world.gates[gate].acquire().await?.forget();
    Ok(())
}

#[workflow]
async fn steps(cx: &Cx, gate: usize, steps: u32) -> Result<u32, Error> {
    #[allow_nondeterminism(statics, reason = "the test counts how often it is replayed")]
    BEGUN.fetch_add(1, Ordering::SeqCst);
    for _ in 0..steps {
        gated(cx, gate).await?;
    }
    Ok(steps)
}

#[workflow]
async fn sleeper(cx: &Cx, n: u64) -> Result<u64, Error> {
    cx.sleep(days(30)).await?;
    Ok(n)
}

async fn runtime(world: &Arc<World>, warm_memory: usize) -> Runtime {
    let builder = Runtime::builder(MemoryStore::new())
        .workflow(steps)
        .workflow(sleeper)
        .activity(gated)
        .state(Arc::clone(world));
    let builder = builder.shards(1).warm_memory(warm_memory);
    builder.start().await.unwrap()
}

/// Starts runs that sleep.
async fn park(client: &Client, runs: std::ops::Range<u64>) {
    for n in runs {
        client
            .start(sleeper, format!("sleeper-{n}"), n)
            .await
            .unwrap();
    }
}

/// What so many runs that sleep have on the heap.
async fn held(warm_memory: usize, runs: u64) -> isize {
    let runtime = runtime(&World::new(), warm_memory).await;
    let client = runtime.client();
    // The shard has done with each message before when it answers this.
    let answered = async || park(&client, 0..1).await;
    answered().await;
    let before = HEAP.allocated().cast_signed();
    park(&client, 0..runs).await;
    answered().await;
    HEAP.allocated().cast_signed() - before
}

#[tokio::test]
async fn a_run_that_waits_holds_little_and_all_together_no_more_than_they_may() {
    const RUNS: u64 = 2_000;
    const BOUND: isize = 1_000_000;
    let _alone = ALONE.lock().await;
    // What is made once, by the first run of all.
    held(usize::MAX, 1).await;
    // The store, the timers and the names have their share each time.
    let none = held(0, RUNS).await;
    let all = held(usize::MAX, RUNS).await - none;
    let some = held(BOUND.unsigned_abs(), RUNS).await - none;
    let each = all / 2_000;
    assert!((1_000..4_000).contains(&each), "{each}");
    // They say themselves what they hold, so this shows that it is about true.
    assert!(some < BOUND + BOUND / 5, "{some}");
    assert!(some > BOUND / 2, "{some}");
}

#[tokio::test]
async fn a_run_gives_up_its_machine_while_its_activity_runs_and_goes_on_all_the_same() {
    let _alone = ALONE.lock().await;
    for (warm_memory, times) in [(usize::MAX, 1), (0, 4)] {
        let world = World::new();
        let runtime = runtime(&world, warm_memory).await;
        BEGUN.store(0, Ordering::SeqCst);
        let run = runtime.client().start(steps, "one", (0, 3)).await.unwrap();
        for _ in 0..3 {
            world.begun().await;
            world.gates[0].add_permits(1);
        }
        assert_eq!(soon(run.result()).await.unwrap(), 3);
        assert_eq!(BEGUN.load(Ordering::SeqCst), times);
    }
}

#[tokio::test]
async fn runs_leave_the_memory_in_the_order_in_which_they_were_used() {
    let _alone = ALONE.lock().await;
    let world = World::new();
    let runtime = runtime(&world, 500_000).await;
    let client = runtime.client();
    BEGUN.store(0, Ordering::SeqCst);
    let unused = client.start(steps, "unused", (1, 1)).await.unwrap();
    world.begun().await;
    let used = client.start(steps, "used", (0, 20)).await.unwrap();
    for n in 0..20 {
        world.begun().await;
        park(&client, n * 50..(n + 1) * 50).await;
        world.gates[0].add_permits(1);
    }
    soon(used.result()).await.unwrap();
    assert_eq!(BEGUN.load(Ordering::SeqCst), 2, "none was replayed");
    world.gates[1].add_permits(1);
    soon(unused.result()).await.unwrap();
    assert_eq!(BEGUN.load(Ordering::SeqCst), 3, "it was replayed");
}
