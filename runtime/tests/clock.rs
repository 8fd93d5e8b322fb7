//! Stamps, deadlines and timers where the clock goes its own ways.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use perennial::RunKey;
use perennial::prelude::*;
use perennial_runtime::store::{Loaded, Store};
use perennial_runtime::{Builder, RunError, Runtime};
use support::clock::{START, Set};
use support::held::{HeldStore, Shared};
use support::waiting::soon;
use tokio::sync::Semaphore;

/// In seconds.
const HOUR: u64 = 3_600;

fn second(second: u64) -> Timestamp {
    Timestamp::from_millis(START + second * 1_000)
}

struct World {
    gates: [Semaphore; 3],
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            gates: std::array::from_fn(|_| Semaphore::new(0)),
        })
    }
}

#[activity(idempotent)]
async fn gated(acx: &ActivityCx, gate: u64) -> Result<u64, Failure> {
    acx.state::<Arc<World>>().gates[usize::try_from(gate)?]
        .acquire()
        .await?
        .forget();
    Ok(gate)
}

#[activity(idempotent, retry(initial = "5h", cap = "5h"))]
async fn fails(_acx: &ActivityCx) -> Result<(), Failure> {
    Err(Failure::transient("not yet"))
}

static FAULTY: AtomicBool = AtomicBool::new(false);

#[durable]
async fn checked(cx: &Cx) -> Result<Timestamp, Error> {
    gated(cx, 0).await?;
    #[allow_nondeterminism(
        statics,
        reason = "what a program that is repaired and started again looks like"
    )]
    assert!(!FAULTY.load(Ordering::SeqCst), "a fault of the code");
    Ok(cx.now())
}

#[durable]
async fn told(cx: &Cx, gate: u64) -> Result<Timestamp, Error> {
    gated(cx, gate).await?;
    Ok(cx.now())
}

#[durable]
async fn slept(cx: &Cx) -> Result<Timestamp, Error> {
    cx.sleep(hours(1)).await?;
    Ok(cx.now())
}

#[workflow]
async fn stamps(cx: &Cx) -> Result<Vec<Timestamp>, Error> {
    let (zero, one, timer, two) = join!(checked(cx), told(cx, 1), slept(cx), told(cx, 2));
    Ok(vec![zero?, one?, timer?, two?])
}

#[workflow]
async fn steps_and_naps(cx: &Cx) -> Result<(), Error> {
    gated(cx, 0).await?;
    cx.sleep(millis(20)).await?;
    Ok(cx.sleep(millis(20)).await?)
}

#[workflow]
async fn many_naps(cx: &Cx, naps: u64) -> Result<u64, Error> {
    let all = join_all((0..naps).map(|_| cx.sleep(hours(1)))).await;
    Ok(all.len() as u64)
}

#[workflow]
async fn naps(cx: &Cx) -> Result<(), Error> {
    Ok(cx.sleep(hours(1)).await?)
}

#[workflow]
async fn tries(cx: &Cx) -> Result<(), Error> {
    Ok(fails(cx).await?)
}

fn program(store: &Arc<HeldStore>, world: &Arc<World>, clock: &Set) -> Builder {
    Runtime::builder(Shared(Arc::clone(store)))
        .workflow(stamps)
        .workflow(steps_and_naps)
        .workflow(many_naps)
        .workflow(naps)
        .workflow(tries)
        .activities((gated, fails))
        .state(Arc::clone(world))
        .clock(clock.clone())
        .artifact("test")
}

fn stored(store: &Arc<HeldStore>, id: &str) -> Loaded {
    let run = RunKey::new(perennial::Namespace::default(), id.parse().unwrap());
    Shared(Arc::clone(store)).load(&run).unwrap().unwrap()
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn s02_what_arrives_while_a_run_is_blocked_keeps_its_stamp_and_its_place() {
    let (store, world, clock) = (HeldStore::new(), World::new(), Set::new());
    FAULTY.store(true, Ordering::SeqCst);
    let runtime = program(&store, &world, &clock).start().await.unwrap();
    let run = runtime.client().start(stamps, "stamps", ()).await.unwrap();
    for (gate, at) in [(0, 10), (1, 20), (2, 2 * HOUR)] {
        clock.at(at);
        world.gates[gate].add_permits(1);
        soon(until(|| stored(&store, "stamps").queue.len() == gate + 1)).await;
    }
    assert!(matches!(
        soon(run.result()).await,
        Err(RunError::Blocked { .. })
    ));
    let kept: Vec<Timestamp> = stored(&store, "stamps")
        .queue
        .iter()
        .map(|row| row.at)
        .collect();
    assert_eq!(kept, [second(10), second(20), second(2 * HOUR)]);
    drop(runtime);

    // Its timer was due after the second and before the third.
    FAULTY.store(false, Ordering::SeqCst);
    clock.at(3 * HOUR);
    let runtime = program(&store, &world, &clock).start().await.unwrap();
    let told = soon(runtime.client().run(stamps, "stamps").unwrap().result())
        .await
        .unwrap();
    assert_eq!(
        told,
        [second(10), second(20), second(3 * HOUR), second(3 * HOUR)]
    );
    let history = runtime
        .client()
        .run(stamps, "stamps")
        .unwrap()
        .history()
        .await
        .unwrap()
        .history;
    let fired = history
        .units
        .iter()
        .position(|unit| format!("{:?}", unit.observation).contains("TimerFired"));
    assert_eq!(fired, Some(3), "{}", history.text());
}

#[tokio::test]
async fn s07_a_sleep_is_no_longer_than_asked_for_where_the_clock_was_set_back() {
    let (store, world, clock) = (HeldStore::new(), World::new(), Set::new());
    clock.at(24 * HOUR);
    let runtime = program(&store, &world, &clock).start().await.unwrap();
    let run = runtime
        .client()
        .start(steps_and_naps, "back", ())
        .await
        .unwrap();
    clock.at(0);
    world.gates[0].add_permits(1);
    soon(run.result()).await.unwrap();
}

#[tokio::test]
async fn s07_a_timer_that_is_still_in_the_store_does_not_wait_for_a_back_off() {
    let (store, world, clock) = (HeldStore::new(), World::new(), Set::new());
    let runtime = program(&store, &world, &clock).start().await.unwrap();
    let client = runtime.client();
    // As many as are read from the store at a time.
    client.start(many_naps, "many", 10_000).await.unwrap();
    clock.at_millis(10);
    client.start(naps, "one", ()).await.unwrap();
    client.start(tries, "tries", ()).await.unwrap();
    soon(until(|| {
        stored(&store, "tries")
            .tasks
            .first()
            .is_some_and(|task| task.attempt == 2)
    }))
    .await;
    drop(runtime);

    // The back-off is there by the time that those ring.
    clock.at_millis(HOUR * 1_000 - 300);
    let runtime = program(&store, &world, &clock).start().await.unwrap();
    let client = runtime.client();
    assert_eq!(
        soon(client.run(many_naps, "many").unwrap().result())
            .await
            .unwrap(),
        10_000
    );
    soon(client.run(naps, "one").unwrap().result())
        .await
        .unwrap();
}
