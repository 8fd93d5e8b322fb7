//! When a run that is at work stands.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use perennial_runtime::Runtime;
use perennial_runtime::store::{Owner, StoreError};

use crate::support::each_place;
use crate::support::held::{HeldStore, Shared};
use crate::world::*;

async fn over(store: &Arc<HeldStore>, world: &Arc<World>) -> Runtime {
    runtime(Arc::new(Shared(Arc::clone(store))), world).await
}

/// Until so many writes are held since the last time.
async fn held(store: &HeldStore, writes: u32) {
    soon(store.holds.acquire_many(writes))
        .await
        .unwrap()
        .forget();
}

#[tokio::test]
async fn a_busy_run_stands_after_the_commit_that_is_under_way() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(several, "busy", 2).await.unwrap();
    run.send(A, &1).await.unwrap();
    until(async || world.counted.load(Ordering::SeqCst) == 1).await;
    has_events(&run, 7).await;
    store.hold();
    run.send(A, &2).await.unwrap();
    held(&store, 1).await;
    // Its step is not durable, and schedules an activity.
    let pause = tokio::spawn({
        let run = run.clone();
        async move { run.pause().await }
    });
    store.release();
    soon(pause).await.unwrap().unwrap();
    has_events(&run, 10).await;
    let key = run.status().await.unwrap().run;
    let queue = || perennial_runtime::store::Store::load(&Shared(Arc::clone(&store)), &key);
    until(async || queue().unwrap().unwrap().queue.len() == 1).await;
    assert_eq!(
        events(&run).await,
        10,
        "the activity ran, and the run was not told"
    );
    run.resume().await.unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn s04_a_pause_is_answered_when_it_is_durable() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(several, "durable", 1).await.unwrap();
    for resumes in [false, true] {
        store.hold();
        let change = tokio::spawn({
            let run = run.clone();
            async move {
                if resumes {
                    run.resume().await.map(drop)
                } else {
                    run.pause().await.map(drop)
                }
            }
        });
        held(&store, 1).await;
        run.send(A, &1).await.unwrap();
        assert!(!change.is_finished());
        assert_eq!(run.status().await.unwrap().paused.is_some(), resumes);
        store.release();
        soon(change).await.unwrap().unwrap();
        assert_eq!(run.status().await.unwrap().paused.is_some(), !resumes);
    }
    assert_eq!(soon(run.result()).await.unwrap(), [1]);
}

#[tokio::test]
async fn a_pause_of_a_run_that_has_got_another_owner_is_asked_for_again() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(several, "claimed", 1).await.unwrap();
    let key = run.status().await.unwrap().run;
    store.claim_now(key, Owner(99));
    assert!(!run.pause().await.unwrap().already);
    run.send(A, &1).await.unwrap();
    assert_eq!(events(&run).await, 2);
    run.resume().await.unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), [1]);
}

#[tokio::test]
async fn a_store_that_fails_is_told_and_the_run_goes_on_in_the_next_process() {
    let (store, world) = (HeldStore::new(), World::new());
    let first = over(&store, &world).await;
    let run = first.client().start(several, "fails", 1).await.unwrap();
    let reason = "the power went".to_owned();
    store.refuse_next(StoreError::Unknown { reason });
    let error = run.pause().await.unwrap_err().to_string();
    assert!(error.contains("the power went"), "{error}");
    drop(first);
}

#[tokio::test]
async fn a_run_is_paused_before_the_next_program_tells_it_anything() {
    each_place(async |place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let run = first.client().start(several, "first", 1).await.unwrap();
        drop(first);
        drop(run);
        let second = runtime(place.open(), &world).await;
        let run = second.client().run(several, "first").unwrap();
        run.pause().await.unwrap();
        run.send(A, &1).await.unwrap();
        assert_eq!(events(&run).await, 2);
        // Wishes are carried out one after the other.
        let (resumed, paused) = tokio::join!(run.resume(), run.pause());
        assert!(resumed.unwrap().since.is_some());
        paused.unwrap();
        run.resume().await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), [1]);
        drop(second);
    })
    .await;
}

#[tokio::test]
async fn a_run_is_paused_in_the_middle_of_its_replay() {
    let (store, world) = (HeldStore::new(), World::new());
    let builder = builder(Arc::new(Shared(Arc::clone(&store))), &world);
    let runtime = builder.warm_memory(0).start().await.unwrap();
    let run = runtime.client().start(several, "long", 60).await.unwrap();
    for round in 1..60 {
        run.send(A, &round).await.unwrap();
        has_events(&run, 2 + 5 * round).await;
    }
    // It is not in memory, and more than a slice of a replay long. What wakes it is held up until somebody wants it to
    // stand.
    let (begun, begins) = tokio::sync::oneshot::channel();
    let (go_on, goes_on) = std::sync::mpsc::channel();
    store.before_next_history(move || {
        begun.send(()).unwrap();
        goes_on.recv().unwrap();
    });
    run.send(A, &60).await.unwrap();
    soon(begins).await.unwrap();
    let mut pause = std::pin::pin!(run.pause());
    // It is asked for with the first poll.
    assert!(polled_once(pause.as_mut()).await.is_none());
    go_on.send(()).unwrap();
    assert!(!soon(pause).await.unwrap().already);
    assert_eq!(events(&run).await, 297);
    run.resume().await.unwrap();
    assert_eq!(soon(run.result()).await.unwrap().len(), 60);
}

/// Polls it once.
async fn polled_once<F: Future>(mut what: std::pin::Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match what.as_mut().poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}
