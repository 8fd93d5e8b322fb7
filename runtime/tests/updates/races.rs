//! Updates that meet each other, a pause, another owner, or a full inbox.

use std::sync::Arc;

use perennial::RunKey;
use perennial_runtime::store::{MAX_INBOX, Owner};
use perennial_runtime::{SendError, UpdateError};
use tokio::task::JoinHandle;

use crate::support::each_store;
use crate::support::held::{HeldStore, Shared};
use crate::world::*;

type Asked = JoinHandle<Result<u64, UpdateError<String>>>;

fn ask(run: &perennial_runtime::RunHandle<budget>, limit: u64, key: Option<&str>) -> Asked {
    let update = run.update(SET_LIMIT, &limit);
    let update = match key {
        Some(key) => update.idempotency_key(key),
        None => update,
    };
    tokio::spawn(update.into_future())
}

async fn answer(asked: Asked) -> Result<u64, UpdateError<String>> {
    soon(asked).await.unwrap()
}

#[tokio::test]
async fn m45_an_update_under_way_is_answered_and_those_behind_the_pause_are_refused() {
    let store = HeldStore::new();
    let runtime = runtime(Arc::new(Shared(store.clone()))).await;
    let run = runtime.client().start(budget, "around", 100).await.unwrap();
    store.hold();
    let first = ask(&run, 200, None);
    soon(store.holds.acquire()).await.unwrap().forget();
    let pause = tokio::spawn({
        let run = run.clone();
        async move { run.pause().await }
    });
    tokio::task::yield_now().await;
    let second = ask(&run, 300, None);
    tokio::task::yield_now().await;
    store.release();
    assert_eq!(answer(first).await, Ok(100));
    soon(pause).await.unwrap().unwrap();
    let refused = answer(second).await;
    assert!(
        matches!(refused, Err(UpdateError::RunPaused { .. })),
        "{refused:?}"
    );
    run.resume().await.unwrap();
    assert_eq!(answer(ask(&run, 400, None)).await, Ok(200));
    assert_eq!(
        told(&runtime.client(), "around").await,
        ["set-limit 200", "set-limit 400"]
    );
}

#[tokio::test]
async fn s27_updates_of_one_key_at_once_are_done_once() {
    for cold in [false, true] {
        let store = HeldStore::new();
        let over = Arc::new(Shared(store.clone()));
        let runtime = match cold {
            true => crate::world::cold(over).await,
            false => runtime(over).await,
        };
        let run = runtime.client().start(budget, "once", 100).await.unwrap();
        store.hold();
        let all = [200, 200, 300].map(|limit| ask(&run, limit, Some("k")));
        soon(store.holds.acquire()).await.unwrap().forget();
        store.release();
        let [first, second, other] = all;
        assert_eq!(answer(first).await, Ok(100));
        assert_eq!(answer(second).await, Ok(100));
        let conflict = answer(other).await;
        assert!(
            matches!(conflict, Err(UpdateError::IdempotencyConflict { .. })),
            "{conflict:?}"
        );
        assert_eq!(told(&runtime.client(), "once").await, ["set-limit 200"]);
    }
}

#[tokio::test]
async fn m30_an_update_whose_commit_is_refused_since_the_run_has_another_owner_is_done_once() {
    let store = HeldStore::new();
    let runtime = runtime(Arc::new(Shared(store.clone()))).await;
    let run = runtime.client().start(budget, "owner", 100).await.unwrap();
    let key: RunKey = "owner".parse().unwrap();
    for _ in 0..2 {
        store.claim_now(key.clone(), Owner(99));
        assert_eq!(answer(ask(&run, 200, Some("k"))).await, Ok(100));
    }
    assert_eq!(told(&runtime.client(), "owner").await, ["set-limit 200"]);
}

#[tokio::test]
async fn m12_a_run_whose_inbox_is_full_takes_updates_and_is_told_all_that_came_before() {
    each_store(async |store| {
        let world = World::new();
        let runtime = builder(store, &world).start().await.unwrap();
        let run = runtime.client().start(words, "full", 1).await.unwrap();
        let sends = (0..MAX_INBOX).map(|number| tokio::spawn(run.send(GO, &number).into_future()));
        for sent in sends.collect::<Vec<_>>() {
            soon(sent).await.unwrap().unwrap();
        }
        let add = run.update(ADD, &"one".to_owned());
        assert_eq!(soon(add.into_future()).await, Ok(1));
        let full = run.send(GO, &0).await;
        assert!(matches!(full, Err(SendError::InboxFull { .. })), "{full:?}");
        let add = run.update(ADD, &"two".to_owned());
        assert_eq!(soon(add.into_future()).await, Ok(2));
        world.open(1);
        let (words, first) = soon(run.result()).await.unwrap();
        assert_eq!((words.len(), first), (2, 0));
        assert_eq!(
            run.list_messages()
                .after(1)
                .limit(1)
                .page()
                .await
                .unwrap()
                .messages[0]
                .number,
            2
        );
    })
    .await;
}
