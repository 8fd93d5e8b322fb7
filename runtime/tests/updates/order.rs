//! An update is told when all that came before it was told, and in the order in which it came.

use std::sync::Arc;

use perennial_runtime::UpdateError;

use crate::support::each_store;
use crate::support::held::{HeldStore, Shared};
use crate::world::*;

#[tokio::test]
async fn s02_what_came_before_an_update_is_told_before_it_or_dropped() {
    each_store(async |store| {
        let world = World::new();
        let runtime = builder(store, &world).start().await.unwrap();
        let client = runtime.client();
        let run = client.start(words, "order", 1).await.unwrap();
        run.send(GO, &7).await.unwrap();
        // Nobody waits for it yet, and nobody hears it later (M54).
        run.signal(BELL, &1).await.unwrap();
        let add = run.update(ADD, &"one".to_owned());
        assert_eq!(soon(add.into_future()).await, Ok(1));
        assert_eq!(told(&client, "order").await, ["message 7", "add \"one\""]);
        world.open(1);
        let (words, sent) = soon(run.result()).await.unwrap();
        assert_eq!((words, sent), (vec!["one".to_owned()], 7));
    })
    .await;
}

#[tokio::test]
async fn s27_updates_wait_for_each_other_and_are_done_while_activities_run() {
    each_store(async |store| {
        let world = World::new();
        let runtime = builder(store, &world).start().await.unwrap();
        let run = runtime.client().start(words, "many", 3).await.unwrap();
        let texts: Vec<String> = (0..20).map(|n| format!("w{n}")).collect();
        let asked = texts
            .iter()
            .map(|text| tokio::spawn(run.update(ADD, text).into_future()));
        let mut counts = Vec::new();
        for asked in asked.collect::<Vec<_>>() {
            counts.push(soon(asked).await.unwrap().unwrap());
        }
        counts.sort_unstable();
        assert_eq!(counts, (1..=20).collect::<Vec<_>>());
        world.open(3);
        run.send(GO, &0).await.unwrap();
        let (mut words, _) = soon(run.result()).await.unwrap();
        words.sort_unstable();
        let mut texts = texts;
        texts.sort_unstable();
        assert_eq!(words, texts);
    })
    .await;
}

#[tokio::test]
async fn s11_an_update_that_waits_when_the_run_ends_is_told_so() {
    let store = HeldStore::new();
    let runtime = runtime(Arc::new(Shared(store.clone()))).await;
    let run = runtime.client().start(budget, "ends", 100).await.unwrap();
    store.hold();
    let ask = |limit: u64| tokio::spawn(run.update(SET_LIMIT, &limit).into_future());
    let first = ask(200);
    soon(store.holds.acquire()).await.unwrap().forget();
    let (second, third) = (ask(500), ask(600));
    // Both are heard of before the first one is done.
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    store.release();
    assert_eq!(soon(first).await.unwrap(), Ok(100));
    let answers = [soon(second).await.unwrap(), soon(third).await.unwrap()];
    let (done, not): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!(done, [Ok(200)]);
    assert!(
        matches!(not[..], [Err(UpdateError::RunEnded { .. })]),
        "{not:?}"
    );
}

#[tokio::test]
async fn s04_what_refuses_an_update_waits_for_what_it_depends_on() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(late, "late", ()).await.unwrap();
        let early = soon(run.update(SET_LIMIT, &100).into_future()).await;
        assert!(
            matches!(early, Err(UpdateError::NoHandler { .. })),
            "{early:?}"
        );
        run.send(GO, &50).await.unwrap();
        let refused = soon(run.update(SET_LIMIT, &1).into_future()).await;
        assert_eq!(
            refused,
            Err(UpdateError::Refused("1 is less than 10".to_owned()))
        );
        assert_eq!(soon(run.update(SET_LIMIT, &60).into_future()).await, Ok(50));
    })
    .await;
}
