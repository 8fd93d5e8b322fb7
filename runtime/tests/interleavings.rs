//! What happens while a commit is under way, and where a commit comes to nothing: everybody is answered, and
//! nothing is lost or done again.
#![allow(clippy::unwrap_used)]

mod support;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use perennial::RunKey;
use perennial::prelude::*;
use perennial_runtime::store::{AttemptOutcome, Fence, Loaded, Refusal, Store, StoreError};
use perennial_runtime::{Builder, Clock, RunError, Runtime, StartError, SystemClock, Unavailable};
use support::held::{HeldStore, Shared};
use support::waiting::soon;
use tokio::sync::Semaphore;

/// How the test steers the activities.
struct World {
    /// `gated(n)` takes a permit of gate `n` for each execution.
    gates: [Semaphore; 4],
    began: Semaphore,
    ended: AtomicU32,
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            gates: std::array::from_fn(|_| Semaphore::new(0)),
            began: Semaphore::new(0),
            ended: AtomicU32::new(0),
        })
    }

    fn open(&self, gate: usize) {
        self.gates[gate].add_permits(1);
    }

    /// Until so many executions have begun since the last time.
    async fn begun(&self, executions: u32) {
        self.began.acquire_many(executions).await.unwrap().forget();
    }

    /// Until so many executions have ended. The tests have one thread, so they have reported it too.
    async fn ended(&self, executions: u32) {
        until(|| self.ended.load(Ordering::SeqCst) >= executions).await;
    }
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}

#[activity(idempotent)]
async fn gated(acx: &ActivityCx, gate: u32) -> Result<u32, Failure> {
    let world = acx.state::<Arc<World>>();
    world.began.add_permits(1);
    world.gates[gate as usize].acquire().await?.forget();
    world.ended.fetch_add(1, Ordering::SeqCst);
    Ok(gate)
}

#[activity(idempotent, retry(initial = "1h", cap = "1h"))]
async fn fails(acx: &ActivityCx) -> Result<u32, Failure> {
    let world = acx.state::<Arc<World>>();
    world.began.add_permits(1);
    world.gates[3].acquire().await?.forget();
    Err(Failure::transient("not yet"))
}

struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("a drop that panics");
    }
}

#[activity(pure, attempt = "5ms", retry(attempts = 1))]
async fn explodes(_acx: &ActivityCx) -> Result<u32, Failure> {
    let _held = Explosive;
    std::future::pending().await
}

#[workflow]
async fn race(cx: &Cx) -> Result<u32, Error> {
    Ok(select! {
        one = gated(cx, 1) => one?,
        two = gated(cx, 2) => two?,
        three = fails(cx) => three?,
    })
}

#[durable]
async fn faulty(cx: &Cx) -> Result<u32, Error> {
    gated(cx, 1).await?;
    panic!("a fault of the code")
}

#[workflow]
async fn breaks(cx: &Cx) -> Result<u32, Error> {
    let (one, two) = join!(faulty(cx), gated(cx, 2));
    Ok(one? + two?)
}

#[workflow]
async fn step(cx: &Cx, gate: u32) -> Result<u32, Error> {
    Ok(gated(cx, gate).await?)
}

#[workflow]
async fn times_out(cx: &Cx) -> Result<u32, Error> {
    Ok(explodes(cx).await?)
}

#[workflow]
async fn naps_for_ever(cx: &Cx) -> Result<(), Error> {
    loop {
        cx.sleep(millis(1)).await?;
    }
}

#[activity(idempotent, timeout = "20ms")]
async fn in_time(_acx: &ActivityCx) -> Result<u32, Failure> {
    Ok(1)
}

#[workflow]
async fn hurries(cx: &Cx) -> Result<String, Error> {
    Ok(format!("{:?}", in_time(cx).await))
}

/// Where a test meets the workflow that holds its thread, before and after.
static MEETING: std::sync::Barrier = std::sync::Barrier::new(2);

#[workflow]
async fn holds_its_thread(cx: &Cx) -> Result<(), Error> {
    let _ = cx;
    MEETING.wait();
    MEETING.wait();
    Ok(())
}

fn program(store: &Arc<HeldStore>, world: &Arc<World>) -> Builder {
    Runtime::builder(Shared(Arc::clone(store)))
        .workflow(race)
        .workflow(breaks)
        .workflow(step)
        .workflow(times_out)
        .workflow(naps_for_ever)
        .workflow(hurries)
        .workflow(holds_its_thread)
        .activities((gated, fails, explodes, in_time))
        .state(Arc::clone(world))
        .artifact("test")
        .shards(1)
}

async fn started() -> (Arc<HeldStore>, Arc<World>, Runtime) {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = program(&store, &world).start().await.unwrap();
    (store, world, runtime)
}

fn key(id: &str) -> RunKey {
    RunKey::new(perennial::Namespace::default(), id.parse().unwrap())
}

fn stored(store: &Arc<HeldStore>, id: &str) -> Loaded {
    Shared(Arc::clone(store)).load(&key(id)).unwrap().unwrap()
}

#[tokio::test]
async fn s11_what_had_arrived_at_the_end_is_recorded_and_not_done_again() {
    let (store, world, runtime) = started().await;
    let run = runtime.client().start(race, "race", ()).await.unwrap();
    soon(world.begun(3)).await;
    // While the record of the failure is on its way, both others come to their ends.
    store.hold();
    world.open(3);
    store.holds.acquire().await.unwrap().forget();
    world.open(1);
    world.open(2);
    soon(world.ended(2)).await;
    store.release();
    let winner = soon(run.result()).await.unwrap();
    let late = 3 - winner;
    let operations: Vec<u64> = stored(&store, "race")
        .tasks
        .iter()
        .map(|task| task.operation)
        .collect();
    assert_eq!(
        operations,
        [3],
        "what waits for its next attempt is still the run's, and nothing else"
    );
    let attempts = run.history().await.unwrap().attempts;
    let recorded = attempts
        .iter()
        .find(|record| record.operation == u64::from(late))
        .unwrap();
    assert!(
        matches!(&recorded.outcome, AttemptOutcome::Late { result } if result.as_json() == late.to_string())
    );
    drop(runtime);

    let runtime = program(&store, &world).start().await.unwrap();
    let run = runtime.client().run(race, "race").unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), winner);
    assert_eq!(
        world.began.available_permits(),
        0,
        "nothing has begun again"
    );
}

#[tokio::test]
async fn who_asks_for_an_end_while_something_late_is_committed_is_answered() {
    let (store, world, runtime) = started().await;
    let run = runtime.client().start(race, "late", ()).await.unwrap();
    soon(world.begun(3)).await;
    world.open(1);
    assert_eq!(soon(run.result()).await.unwrap(), 1);
    store.hold();
    world.open(2);
    soon(store.holds.acquire()).await.unwrap().forget();
    assert_eq!(soon(run.result()).await.unwrap(), 1);
    store.release();
}

#[tokio::test]
async fn who_asks_for_an_end_while_the_run_is_opened_is_answered() {
    let (store, world, runtime) = started().await;
    let run = runtime.client().start(race, "opened", ()).await.unwrap();
    soon(world.begun(3)).await;
    world.open(1);
    soon(run.result()).await.unwrap();
    drop(runtime);
    // Its other attempts are open, so the next process claims it.
    store.hold();
    let runtime = program(&store, &world).start().await.unwrap();
    soon(store.holds.acquire()).await.unwrap().forget();
    let run = runtime.client().run(race, "opened").unwrap();
    let mut result = pin!(run.result());
    asked(&mut result).await;
    store.release();
    assert_eq!(soon(result).await.unwrap(), 1);
}

/// Polls it once, so that the question is on its way.
async fn asked<T>(question: &mut (impl Future<Output = T> + Unpin)) {
    tokio::select! {
        biased;
        _ = question => panic!("it is too early for an answer"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn s16_who_asks_for_the_end_of_a_blocked_run_is_answered_whatever_is_committed() {
    let (store, world, runtime) = started().await;
    let client = runtime.client();
    let run = client.start(breaks, "blocked", ()).await.unwrap();
    soon(world.begun(2)).await;
    world.open(1);
    assert!(matches!(
        soon(run.result()).await,
        Err(RunError::Blocked { .. })
    ));
    store.hold();
    world.open(2);
    soon(store.holds.acquire()).await.unwrap().forget();
    assert!(matches!(
        soon(run.result()).await,
        Err(RunError::Blocked { .. })
    ));
    store.release();
}

#[tokio::test]
async fn s16_a_run_that_was_tried_in_vain_is_remembered() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = program(&store, &world)
        .warm_memory(0)
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    let run = client.start(breaks, "blocked", ()).await.unwrap();
    soon(world.begun(2)).await;
    world.open(1);
    world.open(2);
    assert!(matches!(
        soon(run.result()).await,
        Err(RunError::Blocked { .. })
    ));
    for n in 0..8 {
        world.open(0);
        soon(
            client
                .start(step, format!("other-{n}"), 0)
                .await
                .unwrap()
                .result(),
        )
        .await
        .unwrap();
    }
    assert!(matches!(
        soon(run.result()).await,
        Err(RunError::Blocked { .. })
    ));
}

#[tokio::test]
async fn s04_a_creation_that_comes_to_nothing_answers_all_who_wait() {
    let (store, _world, runtime) = started().await;
    let client = runtime.client();
    for error in [
        too_large(),
        StoreError::Unknown {
            reason: "a cable".into(),
        },
    ] {
        store.hold();
        store.refuse_next(error.clone());
        let mut start = pin!(async { client.start(step, "never", 1).await.map(drop) });
        asked(&mut start).await;
        soon(store.holds.acquire()).await.unwrap().forget();
        let run = client.run(step, "never").unwrap();
        let mut result = pin!(run.result());
        asked(&mut result).await;
        store.release();
        assert_eq!(
            soon(start).await.unwrap_err(),
            StartError::Unavailable(Unavailable::Store(error))
        );
        assert!(soon(result).await.is_err());
    }
}

fn too_large() -> StoreError {
    StoreError::TooLarge {
        what: "a name",
        size: 2,
        limit: 1,
    }
}

/// A store may be the user's.
#[tokio::test]
async fn s04_a_store_that_panics_when_it_is_handed_a_commit_leaves_nobody_waiting() {
    let (store, world, runtime) = started().await;
    let client = runtime.client();
    let run = client.start(step, "order-42", 0).await.unwrap();
    world.begun(1).await;
    store.panic_at_next();
    world.open(0);
    let answer = soon(run.result()).await;
    let Err(RunError::Unavailable(Unavailable::Broken { reason })) = answer else {
        panic!("{answer:?}")
    };
    assert!(reason.contains("the store has a fault"), "{reason}");
    let other = soon(client.start(step, "order-43", 0).into_future()).await;
    assert!(other.is_err(), "the shard that failed takes nothing");
}

#[tokio::test]
async fn s03_a_refused_commit_opens_the_run_again() {
    let (store, world, runtime) = started().await;
    let run = runtime.client().start(step, "refused", 1).await.unwrap();
    soon(world.begun(1)).await;
    let (given, current) = (Fence(1), Fence(2));
    store.refuse_next(StoreError::Refused(Refusal::Fenced {
        run: key("refused"),
        given,
        current,
    }));
    world.open(1);
    soon(world.begun(1)).await;
    world.open(1);
    assert_eq!(soon(run.result()).await.unwrap(), 1);
}

#[tokio::test]
async fn s15_a_commit_that_is_too_large_blocks_its_run_and_no_other() {
    let (store, world, runtime) = started().await;
    let client = runtime.client();
    let run = client.start(step, "large", 1).await.unwrap();
    soon(world.begun(1)).await;
    store.refuse_next(too_large());
    world.open(1);
    let Err(RunError::Blocked { code, .. }) = soon(run.result()).await else {
        panic!("it is blocked")
    };
    assert_eq!(code, "W102");
    world.open(0);
    assert_eq!(
        soon(client.start(step, "small", 0).await.unwrap().result())
            .await
            .unwrap(),
        0
    );
}

#[tokio::test]
async fn s19_an_attempt_that_panics_when_it_is_dropped_has_failed() {
    let (_store, _world, runtime) = started().await;
    let run = runtime
        .client()
        .start(times_out, "explodes", ())
        .await
        .unwrap();
    assert!(matches!(soon(run.result()).await, Err(RunError::Failed(_))));
    let attempts = run.history().await.unwrap().attempts;
    assert!(
        matches!(&attempts[0].outcome, AttemptOutcome::Panicked { message } if message == "a drop that panics")
    );
}

#[tokio::test]
async fn s19_an_activity_does_not_wait_in_line_for_longer_than_it_may_take() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = program(&store, &world)
        .max_activities(1)
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    let first = client.start(step, "first", 1).await.unwrap();
    soon(world.begun(1)).await;
    let second = client.start(hurries, "second", ()).await.unwrap();
    assert_eq!(soon(second.result()).await.unwrap(), "Err(TimedOut)");
    world.open(1);
    assert_eq!(soon(first.result()).await.unwrap(), 1);
}

#[tokio::test]
async fn a_drain_does_not_wait_for_runs_that_only_wait_again() {
    let (_store, _world, runtime) = started().await;
    for n in 0..100 {
        runtime
            .client()
            .start(naps_for_ever, format!("naps-{n}"), ())
            .await
            .unwrap();
    }
    let at_most = Duration::from_secs(30);
    let drained = runtime.drain(at_most).await;
    assert!(drained.took < at_most, "{drained:?}");
}

#[tokio::test]
async fn a_drain_leaves_a_thread_behind_that_does_not_come_back() {
    let (_store, _world, runtime) = started().await;
    let client = runtime.client();
    let mut start = pin!(async { client.start(holds_its_thread, "holds", ()).await.map(drop) });
    asked(&mut start).await;
    MEETING.wait();
    let _ = soon(runtime.drain(Duration::from_millis(10))).await;
    MEETING.wait();
}

#[derive(Debug)]
struct Faulty(Arc<AtomicBool>);

impl Clock for Faulty {
    fn now(&self) -> Timestamp {
        assert!(!self.0.load(Ordering::SeqCst), "a clock that is broken");
        SystemClock.now()
    }
}

#[tokio::test]
async fn a_part_of_the_program_that_panics_is_named_to_all_who_ask() {
    let (store, world, broken) = (
        HeldStore::new(),
        World::new(),
        Arc::new(AtomicBool::new(false)),
    );
    let runtime = program(&store, &world)
        .clock(Faulty(Arc::clone(&broken)))
        .start()
        .await
        .unwrap();
    let run = runtime.client().start(step, "before", 1).await.unwrap();
    let mut result = pin!(run.result());
    asked(&mut result).await;
    broken.store(true, Ordering::SeqCst);
    let error = soon(async { runtime.client().start(step, "after", 1).await })
        .await
        .unwrap_err();
    assert!(matches!(error, StartError::Unavailable(_)));
    for error in [
        soon(result).await.unwrap_err(),
        soon(run.result()).await.unwrap_err(),
    ] {
        assert!(
            error.to_string().contains("a clock that is broken"),
            "{error}"
        );
    }
}
