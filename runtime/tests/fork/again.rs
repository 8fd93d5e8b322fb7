//! Forks that are asked for at once, by stores that fail, and by programs that end.

use std::sync::Arc;
use std::time::Duration;

use perennial_runtime::store::StoreError;
use perennial_runtime::{ForkError, Runtime, Unavailable};

use crate::support::held::{HeldStore, Shared};
use crate::support::{each_place, each_store};
use crate::world::*;

async fn over(store: &Arc<HeldStore>, world: &Arc<World>) -> Runtime {
    runtime(Arc::new(Shared(Arc::clone(store))), world).await
}

#[tokio::test]
async fn of_forks_at_once_under_one_id_one_is_made() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store.clone(), &world).await;
        let old = charged(&runtime, "old", &[1, 2]).await;
        let (a, b, c) = tokio::join!(
            old.fork(8, "fork"),
            old.fork(14, "fork"),
            old.fork(8, "fork")
        );
        let all = [a, b, c];
        assert_eq!(all.iter().filter(|forked| forked.is_ok()).count(), 1);
        for error in all.into_iter().filter_map(Result::err) {
            let ForkError::TargetExists { forked_from, .. } = &error else {
                panic!("{error}")
            };
            assert!(forked_from.is_some());
        }
    })
    .await;
}

#[tokio::test]
async fn s04_a_fork_is_answered_when_it_is_durable_and_goes_on_though_nobody_waits_for_that() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let old = charged(&runtime, "old", &[1]).await;
    store.hold();
    let forking = tokio::spawn({
        let old = old.clone();
        async move { old.fork(5, "fork").await }
    });
    soon(store.holds.acquire()).await.unwrap().forget();
    assert!(!forking.is_finished());
    forking.abort();
    store.release();
    let fork = runtime.client().run(adds, "fork").unwrap();
    until(async || fork.status().await.is_ok()).await;
    has_events(&fork, 8).await;
    assert_eq!(world.runs(), ["old", "fork"]);
}

#[tokio::test]
async fn what_a_store_or_a_runtime_says_against_it_is_told() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let client = runtime.client();
    let old = charged(&runtime, "old", &[1]).await;
    let what = "a unit";
    let too_large = StoreError::TooLarge {
        what,
        size: 2,
        limit: 1,
    };
    store.refuse_next(too_large.clone());
    let error = old.fork(8, "fork").await.unwrap_err();
    assert_eq!(error, ForkError::Unavailable(Unavailable::Store(too_large)));
    // Nothing was made, and it can be asked for again.
    old.fork(8, "fork").await.unwrap();
    let _ = runtime.drain(Duration::from_secs(60)).await;
    let error = client.fork(old.id(), 8, "other").await.unwrap_err();
    assert!(matches!(error, ForkError::Unavailable(_)), "{error}");
}

/// As after each write of which nobody knows whether it is durable: there may be a run that this process does not wake.
#[tokio::test]
async fn s04_a_fork_of_which_nobody_knows_is_asked_for_again_in_the_next_process() {
    let (store, world) = (HeldStore::new(), World::new());
    let first = over(&store, &world).await;
    let old = charged(&first, "old", &[1]).await;
    let reason = "the power went".to_owned();
    store.refuse_next(StoreError::Unknown { reason });
    let error = old.fork(8, "fork").await.unwrap_err().to_string();
    assert!(error.contains("the power went"), "{error}");
    let fork = first.client().run(adds, "fork").unwrap();
    let error = fork.send(A, &1).await.unwrap_err().to_string();
    assert!(error.contains("the power went"), "{error}");
    drop(first);
    let second = over(&store, &world).await;
    let old = second.client().run(adds, "old").unwrap();
    old.fork(8, "fork").await.unwrap();
}

#[tokio::test]
async fn m43_a_fork_goes_on_in_the_next_process() {
    each_place(async |place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let old = charged(&first, "old", &[1, 2]).await;
        old.fork(8, "fork").await.unwrap();
        drop(old);
        drop(first);
        let second = runtime(place.open(), &world).await;
        let fork = second.client().run(adds, "fork").unwrap();
        assert_eq!(fork.status().await.unwrap().events, 8);
        fork.send(A, &6).await.unwrap();
        fork.send(A, &0).await.unwrap();
        assert_eq!(soon(fork.result()).await.unwrap(), 7);
        drop(second);
    })
    .await;
}
