//! Items over crashes and replays: each is there once, and none before it is durable.

use std::sync::Arc;

use perennial::prelude::*;
use perennial_runtime::{RunState, Runtime};

use crate::support::held::{HeldStore, Shared};
use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn s04_an_item_is_not_seen_before_it_is_durable() {
    let store = HeldStore::new();
    let runtime = runtime(Arc::new(Shared(store.clone()))).await;
    let run = runtime.client().start(echo, "held", 2).await.unwrap();
    let mut items = run.stream(OUTPUT);
    store.hold();
    go(&run, [1]).await;
    soon(store.holds.acquire()).await.unwrap().forget();
    assert_eq!(all(run.stream(OUTPUT).no_wait()).await, []);
    store.release();
    assert_eq!(next(&mut items).await, (1, 1));
}

#[tokio::test]
async fn b14_an_item_whose_commit_was_lost_with_the_process_comes_once() {
    let store = HeldStore::new();
    {
        let runtime = runtime(Arc::new(Shared(store.clone()))).await;
        let run = runtime.client().start(echo, "b14", 3).await.unwrap();
        go(&run, [1]).await;
        assert_eq!(next(&mut run.stream(OUTPUT)).await, (1, 1));
        store.hold();
        go(&run, [2]).await;
        soon(store.holds.acquire()).await.unwrap().forget();
        store.drop_held();
    }
    let runtime = runtime(Arc::new(Shared(store.clone()))).await;
    let run = runtime.client().run(echo, "b14").unwrap();
    let mut items = run.stream(OUTPUT).after(1);
    assert_eq!(next(&mut items).await, (2, 2));
    go(&run, [3]).await;
    assert_eq!(next(&mut items).await, (3, 3));
    assert!(soon(items.next()).await.is_none());
    assert_eq!(all(run.stream(OUTPUT)).await, [(1, 1), (2, 2), (3, 3)]);
}

#[tokio::test]
async fn b14_b15_items_are_there_once_however_often_the_process_ends_and_the_run_is_replayed() {
    each_place(async |place: Place| {
        {
            let runtime = runtime(place.open()).await;
            runtime.client().start(echo, "b15", 12).await.unwrap();
        }
        let mut expected = Vec::new();
        for round in 1..=4 {
            let runtime = cold(place.open()).await;
            let run = runtime.client().run(echo, "b15").unwrap();
            let mut items = run.stream(OUTPUT).after(expected.len() as u64);
            for number in round * 3 - 2..=round * 3 {
                go(&run, [number]).await;
                expected.push((number, number));
                assert_eq!(next(&mut items).await, (number, number));
            }
            assert_eq!(all(run.stream(OUTPUT).no_wait()).await, expected);
            let _ = soon(runtime.drain(std::time::Duration::from_secs(30))).await;
        }
    })
    .await;
}

/// A program that gives out something else than the one before blocks the run, and what was given out stays.
#[tokio::test]
async fn b15_another_item_in_replay_blocks_the_run_and_changes_no_item() {
    mod later {
        use super::*;

        #[workflow]
        pub(super) async fn echo(cx: &Cx, count: u64) -> Result<u64, Error> {
            for _ in 0..count {
                let number = cx.receive(GO).await?;
                cx.emit(OUTPUT, number + 1);
            }
            Ok(count)
        }
    }
    each_place(async |place: Place| {
        {
            let runtime = runtime(place.open()).await;
            let run = runtime.client().start(echo, "other", 3).await.unwrap();
            go(&run, [1]).await;
            assert_eq!(next(&mut run.stream(OUTPUT)).await, (1, 1));
        }
        let builder = Runtime::builder(place.open()).workflow(later::echo);
        let runtime = builder.artifact("later").start().await.unwrap();
        let run = runtime.client().run(later::echo, "other").unwrap();
        run.send(GO, &2).await.unwrap();
        let error = soon(run.result()).await.unwrap_err().to_string();
        assert!(error.contains("[H202 changed input]"), "{error}");
        assert!(error.contains("emit \"output\""), "{error}");
        let state = run.status().await.unwrap().state;
        assert!(matches!(state, RunState::Blocked { .. }), "{state:?}");
        assert_eq!(all(run.stream(OUTPUT).no_wait()).await, [(1, 1)]);
    })
    .await;
}

#[tokio::test]
async fn an_item_that_is_too_large_blocks_the_run_and_nothing_is_seen_of_its_unit() {
    const TEXTS: Stream<String> = Stream::new("texts");
    #[workflow]
    async fn large(cx: &Cx) -> Result<(), Error> {
        cx.emit(TEXTS, "small".to_owned());
        cx.emit(TEXTS, "x".repeat(2 << 20));
        Ok(())
    }
    each_store(async |store| {
        let builder = Runtime::builder(store).workflow(large);
        let runtime = builder.artifact("test").start().await.unwrap();
        let run = runtime.client().start(large, "large", ()).await.unwrap();
        let error = soon(run.result()).await.unwrap_err().to_string();
        assert!(error.contains("item of stream \"texts\""), "{error}");
        assert_eq!(all(run.stream(TEXTS).no_wait()).await, []);
    })
    .await;
}
