//! What becomes of runs after their ends (S26).
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use perennial::prelude::*;
use perennial::{RunId, RunKey};
use perennial_runtime::store::{Purge, Remains, Store};
use perennial_runtime::{
    Builder, Client, PurgeError, ReadError, Reuse, RunError, RunInfo, RunState, Runtime, StartError,
};
use support::clock::{START, Set};
use support::each_store;
use support::held::{HeldStore, Shared};
use support::waiting::soon;
use tokio::sync::Semaphore;

/// In seconds.
const DAY: u64 = 24 * 3_600;

struct Gate(Semaphore);

#[activity(idempotent)]
async fn gated(acx: &ActivityCx) -> Result<u32, Failure> {
    acx.state::<Arc<Gate>>().0.acquire().await?.forget();
    Ok(1)
}

#[workflow]
async fn double(cx: &Cx, number: u64) -> Result<u64, Error> {
    cx.sleep(millis(0)).await?;
    Ok(number * 2)
}

#[workflow]
async fn waits(cx: &Cx) -> Result<u32, Error> {
    Ok(gated(cx).await?)
}

/// Ends and leaves an activity behind.
#[workflow]
async fn leaves(cx: &Cx) -> Result<(), Error> {
    select! {
        _ = gated(cx) => {}
        slept = cx.sleep(millis(1)) => slept?,
    }
    Ok(())
}

/// More records than go in one slice.
#[workflow]
async fn many_steps(cx: &Cx) -> Result<u32, Error> {
    for _ in 0..1_200 {
        cx.sleep(millis(0)).await?;
    }
    Ok(7)
}

fn builder(builder: Builder, gate: &Arc<Gate>) -> Builder {
    builder
        .workflow(double)
        .workflow(waits)
        .workflow(leaves)
        .workflow(many_steps)
        .activity(gated)
        .state(Arc::clone(gate))
        .artifact("test")
}

fn closed() -> Arc<Gate> {
    Arc::new(Gate(Semaphore::new(0)))
}

/// A program over a store that outlives it, by a clock that the test sets.
fn program(store: &Arc<HeldStore>, clock: &Set) -> Builder {
    let runtime = Runtime::builder(Shared(Arc::clone(store))).clock(clock.clone());
    builder(runtime, &closed())
}

async fn status(client: &Client, id: &str) -> Result<RunInfo, ReadError> {
    client.status(&id.parse::<RunId>().unwrap()).await
}

async fn until_purged(client: &Client, id: &str) -> RunInfo {
    soon(async {
        loop {
            match status(client, id).await {
                Ok(info) if info.purged.is_some() => return info,
                _ => tokio::task::yield_now().await,
            }
        }
    })
    .await
}

async fn until_gone(client: &Client, id: &str) {
    soon(async {
        while !matches!(status(client, id).await, Err(ReadError::NotFound { .. })) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

fn second(second: u64) -> Timestamp {
    Timestamp::from_millis(START + second * 1_000)
}

fn days(days: u64) -> Duration {
    Duration::from_secs(days * DAY)
}

#[tokio::test]
async fn a_finished_run_is_purged_when_its_time_is_over_and_its_head_stays() {
    let (store, clock) = (HeldStore::new(), Set::new());
    let runtime = program(&store, &clock).retention(days(1)).start();
    let runtime = runtime.await.unwrap();
    let client = runtime.client();
    let early = client.start(double, "early", 1).await.unwrap();
    soon(early.result()).await.unwrap();
    clock.at(10);
    let late = client.start(double, "late", 2).await.unwrap();
    soon(late.result()).await.unwrap();
    drop(runtime);

    clock.at(DAY + 9);
    let runtime = program(&store, &clock).retention(days(1)).start();
    let client = runtime.await.unwrap();
    let (runtime, client) = (&client, client.client());
    let info = until_purged(&client, "early").await;
    assert_eq!(
        (info.state, info.purged),
        (RunState::Completed, Some(second(DAY + 9)))
    );
    assert_eq!(info.finished, Some(second(0)));
    assert_eq!(status(&client, "late").await.unwrap().purged, None);
    assert_eq!(runtime.client().list().page().await.unwrap().runs.len(), 2);

    // It still is that run.
    let again = client.start(double, "early", 1).await.unwrap();
    assert!(matches!(
        soon(again.result()).await,
        Err(RunError::Purged { at, .. }) if at == second(DAY + 9)
    ));
    assert!(matches!(
        again.history().await,
        Err(ReadError::Purged { .. })
    ));
    let other = client.start(double, "early", 3).await;
    assert!(matches!(other, Err(StartError::Conflict { .. })));
    // And begins anew as others do.
    let anew = client.start(double, "early", 3);
    let anew = anew.reuse(Reuse::AfterFinish).await.unwrap();
    assert_eq!(soon(anew.result()).await.unwrap(), 6);
    let info = anew.status().await.unwrap();
    assert_eq!((info.generation, info.purged), (2, None));
}

#[tokio::test]
async fn without_a_retention_nothing_is_purged() {
    let (store, clock) = (HeldStore::new(), Set::new());
    let runtime = program(&store, &clock).start().await.unwrap();
    let run = runtime.client().start(double, "kept", 1).await.unwrap();
    soon(run.result()).await.unwrap();
    drop(runtime);
    clock.at(1_000 * DAY);
    let runtime = program(&store, &clock).keep_ids(days(0)).start();
    let runtime = runtime.await.unwrap();
    let run = runtime.client().run(double, "kept").unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), 2);
    drop(runtime);
    let store = Shared(store);
    let kept = store.finished(Remains::Whole, Timestamp::MAX, None, 9);
    assert_eq!(kept.unwrap().len(), 1);
}

#[tokio::test]
async fn an_id_is_free_when_the_time_for_ids_is_over() {
    let (store, clock) = (HeldStore::new(), Set::new());
    let runtime = program(&store, &clock).retention(days(1)).start();
    let runtime = runtime.await.unwrap();
    let run = runtime.client().start(double, "order", 1).await.unwrap();
    soon(run.result()).await.unwrap();
    drop(runtime);
    clock.at(DAY);
    let runtime = program(&store, &clock).retention(days(1)).start();
    until_purged(&runtime.await.unwrap().client(), "order").await;

    // Counted from the purge, and for 30 days where nothing else is said.
    clock.at(31 * DAY - 1);
    let runtime = program(&store, &clock).start().await.unwrap();
    assert!(status(&runtime.client(), "order").await.is_ok());
    drop(runtime);
    clock.at(31 * DAY);
    let runtime = program(&store, &clock).start().await.unwrap();
    let client = runtime.client();
    until_gone(&client, "order").await;
    let run = client.start(double, "order", 5).await.unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), 10);
    assert_eq!(run.status().await.unwrap().generation, 1);
}

/// By an alarm: nobody asks, and the program is not started again.
#[tokio::test]
async fn a_run_is_purged_and_its_id_freed_while_the_program_runs() {
    each_store(async |store: Arc<dyn Store>| {
        let runtime = builder(Runtime::builder(store), &closed());
        let runtime = runtime.retention(Duration::from_millis(30));
        let runtime = runtime.keep_ids(Duration::from_millis(30));
        let runtime = runtime.start().await.unwrap();
        let client = runtime.client();
        for id in ["one", "two", "three"] {
            client.start(double, id, 1).await.unwrap();
            until_gone(&client, id).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_long_run_is_purged_in_slices_and_nothing_of_it_is_left() {
    each_store(async |store: Arc<dyn Store>| {
        let runtime = builder(Runtime::builder(Arc::clone(&store)), &closed());
        let runtime = runtime.retention(Duration::ZERO).start().await.unwrap();
        let client = runtime.client();
        client.start(many_steps, "long", ()).await.unwrap();
        until_purged(&client, "long").await;
        let run = RunKey::new("default".parse().unwrap(), "long".parse().unwrap());
        let left = soon(async {
            loop {
                let left = store.finished(Remains::Whole, Timestamp::MAX, None, 9);
                if left.as_ref().is_ok_and(Vec::is_empty) {
                    return store.load(&run).unwrap().unwrap();
                }
                tokio::task::yield_now().await;
            }
        })
        .await;
        assert!(left.head.purged.unwrap().complete);
        assert!(left.timers.is_empty() && left.queue.is_empty());
        assert!(store.history(&run, 1, 1, 9).unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_run_whose_activity_has_not_ended_is_kept_until_it_has() {
    each_store(async |store: Arc<dyn Store>| {
        let gate = closed();
        let runtime = builder(Runtime::builder(store), &gate);
        let runtime = runtime.retention(Duration::ZERO).start().await.unwrap();
        let client = runtime.client();
        let run = client.start(leaves, "leaves", ()).await.unwrap();
        soon(run.result()).await.unwrap();
        // One that ends after it is purged before it.
        client.start(double, "double", 1).await.unwrap();
        until_purged(&client, "double").await;
        assert_eq!(status(&client, "leaves").await.unwrap().purged, None);
        let refused = client.purge(run.id()).await;
        assert!(matches!(
            refused,
            Err(PurgeError::OpenActivities { count: 1, .. })
        ));
        gate.0.add_permits(1);
        until_purged(&client, "leaves").await;
    })
    .await;
}

#[tokio::test]
async fn a_run_is_purged_by_hand_when_it_has_ended_and_not_before() {
    each_store(async |store: Arc<dyn Store>| {
        let gate = closed();
        let runtime = builder(Runtime::builder(store), &gate);
        let runtime = runtime.start().await.unwrap();
        let client = runtime.client();
        let nobody = client.purge(&"nobody".parse().unwrap()).await;
        assert!(matches!(nobody, Err(PurgeError::NotFound { .. })));
        let run = client.start(waits, "waits", ()).await.unwrap();
        let unfinished = client.purge(run.id()).await;
        assert!(matches!(unfinished, Err(PurgeError::Unfinished { .. })));
        gate.0.add_permits(1);
        assert_eq!(soon(run.result()).await.unwrap(), 1);
        client.purge(run.id()).await.unwrap();
        client.purge(run.id()).await.unwrap();
        assert!(run.status().await.unwrap().purged.is_some());
        assert!(matches!(
            soon(run.result()).await,
            Err(RunError::Purged { .. })
        ));
    })
    .await;
}

/// Another one may have been stopped in the middle of it.
#[tokio::test]
async fn what_a_purge_by_another_process_has_left_goes_too() {
    let (store, clock) = (HeldStore::new(), Set::new());
    let runtime = program(&store, &clock).start().await.unwrap();
    let client = runtime.client();
    let run = client.start(many_steps, "long", ()).await.unwrap();
    soon(run.result()).await.unwrap();
    drop(runtime);
    let shared = Shared(Arc::clone(&store));
    let key = RunKey::new("default".parse().unwrap(), "long".parse().unwrap());
    let head = shared.head(&key).unwrap().unwrap();
    let slice = Purge {
        run: key,
        generation: head.generation,
        sequence: head.sequence,
        keep: perennial_runtime::store::Keep::Head,
        at: second(5),
        limit: 10,
    };
    shared.purge(slice, Box::new(|result| assert!(result.is_ok())));

    clock.at(DAY);
    let runtime = program(&store, &clock).retention(days(1)).start();
    let runtime = runtime.await.unwrap();
    let left = soon(async {
        loop {
            let heads = shared.finished(Remains::Head, Timestamp::MAX, None, 9);
            match heads.unwrap().into_iter().next() {
                Some(run) => return run,
                None => tokio::task::yield_now().await,
            }
        }
    })
    .await;
    assert_eq!(left.at, second(5));
    let info = status(&runtime.client(), "long").await.unwrap();
    assert_eq!(info.purged, Some(second(5)));
}
