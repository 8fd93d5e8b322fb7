//! Messages that are sent before anybody waits for them (RW-07), and those that come with the start of their run.

use std::collections::HashSet;
use std::sync::Arc;

use perennial_runtime::store::{MemoryStore, Store};
use perennial_runtime::{SendError, StartError};

use crate::support::{each_store, folder_for_sync};
use crate::world::*;

/// Starts and sends without a pause, so many times.
async fn rounds(store: Arc<dyn Store>, rounds: u64) {
    let runtime = builder(store, &World::new())
        .shards(2)
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    let mut runs = Vec::new();
    let mut numbers = HashSet::new();
    for n in 0..rounds {
        let run = client.start(several, format!("rw07-{n}"), 2).await.unwrap();
        let first = run.send(A, &n).await.unwrap();
        let second = run.send(A, &(n + 1)).await.unwrap();
        assert!(first.number < second.number);
        numbers.insert((n, first.number));
        runs.push(run);
    }
    for (run, n) in runs.into_iter().zip(0..) {
        assert_eq!(soon(run.result()).await.unwrap(), [n, n + 1]);
    }
    assert_eq!(numbers.len() as u64, rounds);
}

#[tokio::test]
async fn rw07_what_is_sent_right_after_the_start_is_taken_once_and_in_order() {
    rounds(Arc::new(MemoryStore::new()), 1_000).await;
}

#[tokio::test]
async fn rw07_also_on_the_disk() {
    let folder = folder_for_sync("rw07");
    let store = perennial_runtime::store::SledStore::open(&folder).unwrap();
    rounds(Arc::new(store), 30).await;
}

#[tokio::test]
async fn messages_that_come_with_a_start_are_there_once_however_often_it_is_repeated() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let client = runtime.client();
        let start = || client.start(busy, "with", 2).send(A, &1).send(A, &2);
        let run = start().await.unwrap();
        assert_eq!(messages(&run).await.len(), 2);
        start().await.unwrap();
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), [1, 2]);
        start().await.unwrap();
        assert_eq!(messages(&run).await.len(), 2);
        // A start without them is the same start; one with others is told that they were not sent.
        client.start(busy, "with", 2).await.unwrap();
        for other in [
            client.start(busy, "with", 2).send(A, &2),
            client.start(busy, "with", 2).send(B, &1),
            start().send(A, &3),
        ] {
            assert_eq!(
                other.await.map(drop),
                Err(StartError::MessagesNotSent { run: key("with") })
            );
        }
        assert_eq!(messages(&run).await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_message_that_comes_with_a_start_is_taken_by_a_wait_that_begins_at_once() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let started = runtime.client().start(one, "at-once", ()).send(A, &7);
        assert_eq!(soon(started.await.unwrap().result()).await, Ok(7));
    })
    .await;
}

#[tokio::test]
async fn a_message_that_cannot_be_sent_does_not_start_a_run() {
    each_store(async |store| {
        let runtime = runtime(store.clone(), &World::new()).await;
        let client = runtime.client();
        let large = "x".repeat(1 << 20);
        let started = client.start(one, "large", ()).send(TEXTS, &large).await;
        let Err(StartError::Message(error)) = started else {
            panic!("{started:?}");
        };
        assert!(matches!(*error, SendError::PayloadTooLarge { .. }));
        let almost = "x".repeat((1 << 20) - 2);
        let many = (0..17).fold(client.start(one, "large", ()), |start, _| {
            start.send(TEXTS, &almost)
        });
        let Err(StartError::Message(error)) = many.await else {
            panic!("they are too large together");
        };
        assert!(matches!(*error, SendError::PayloadTooLarge { .. }));
        assert_eq!(store.head(&key("large")).unwrap(), None);
    })
    .await;
}
