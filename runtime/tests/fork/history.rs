//! What a fork has of the other run, and what it has not.

use perennial::history::{ForkedFrom, Observation};
use perennial_runtime::RunState;

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn m43_a_fork_has_an_empty_inbox_and_completed_waits_keep_their_outputs() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store.clone(), &world).await;
        let client = runtime.client();
        let old = charged(&runtime, "old", &[1, 2]).await;
        let before = units(&old).await;
        // As it was when the first was charged: event 5 is in the unit of the events 3 to 5.
        let fork = old.fork(5, "fork").await.unwrap();
        let forked = client.fork(old.id(), 8, "other").await.unwrap();
        assert_eq!(
            (forked.run, forked.from, forked.last),
            (key("other"), key("old"), 8)
        );

        let listed = fork.list_messages().page().await.unwrap().messages;
        assert_eq!(listed.len(), 1, "that which it has taken: {listed:?}");
        soon(fork.send(A, &10).into_future()).await.unwrap();
        fork.send(A, &0).await.unwrap();
        assert_eq!(soon(fork.result()).await.unwrap(), 11);
        // The first charge was under way when it was forked, so that it is done for the fork too.
        let done = world.done.lock().unwrap().clone();
        let of = |run: &str| -> Vec<u64> {
            let done = done.iter().filter(|(of, ..)| of == run);
            done.map(|(_, _, cents)| *cents).collect()
        };
        assert_eq!((of("old"), of("fork")), (vec![1, 2], vec![1, 10]));
        assert_eq!(
            of("other"),
            [0; 0],
            "what it was told before is not done again"
        );
        let keys: std::collections::BTreeSet<_> = done.iter().map(|(_, key, _)| key).collect();
        assert_eq!(keys.len(), done.len(), "each has a key of its own");

        // The other run is as it was, and goes on.
        assert_eq!(units(&old).await, before);
        old.send(A, &0).await.unwrap();
        assert_eq!(soon(old.result()).await.unwrap(), 3);
    })
    .await;
}

#[tokio::test]
async fn m43_its_history_is_the_other_ones_but_for_whose_it_is() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let old = charged(&runtime, "old", &[1]).await;
        let fork = old.fork(8, "fork").await.unwrap();
        let (old, mut new) = (units(&old).await, units(&fork).await);
        let Observation::Started(started) = &mut new[0].observation else {
            panic!("it has begun")
        };
        let from = ForkedFrom {
            run: "old".parse().unwrap(),
            last: 8,
        };
        assert_eq!(std::mem::take(&mut started.forked_from), [from]);
        assert_eq!(started.run.as_str(), "fork");
        started.run = "old".parse().unwrap();
        assert_eq!(new, old);
        let info = fork.status().await.unwrap();
        assert_eq!(
            (info.events, info.state, info.generation),
            (8, RunState::Running, 1)
        );
    })
    .await;
}

#[tokio::test]
async fn m43_a_message_that_was_told_and_not_taken_is_not_the_forks() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let old = runtime.client().start(later, "old", ()).await.unwrap();
        // Nothing waits for the first; it is told with the second.
        old.send(B, &30).await.unwrap();
        old.send(A, &10).await.unwrap();
        has_events(&old, 6).await;
        let fork = old.fork(6, "fork").await.unwrap();
        let listed = |run: &perennial_runtime::RunHandle<later>| {
            let page = run.list_messages();
            async move {
                let messages = page.page().await.unwrap().messages;
                messages
                    .iter()
                    .map(|message| message.number)
                    .collect::<Vec<_>>()
            }
        };
        assert_eq!(listed(&old).await, [1, 2]);
        assert_eq!(listed(&fork).await, [2], "the one that it has taken");
        for (run, b) in [(&old, None), (&fork, Some(99))] {
            run.send(A, &20).await.unwrap();
            if let Some(b) = b {
                let receipt = run.send(B, &b).await.unwrap();
                assert_eq!(receipt.number, 4, "numbers are counted on");
            }
            let expected = (10, 20, b.unwrap_or(30));
            assert_eq!(soon(run.result()).await.unwrap(), expected);
        }
        assert_eq!(listed(&fork).await, [2, 3, 4]);
    })
    .await;
}

#[tokio::test]
async fn m43_a_fork_knows_no_idempotency_keys_of_the_other_run() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let old = runtime.client().start(adds, "old", ()).await.unwrap();
        old.send(A, &1).idempotency_key("k").await.unwrap();
        has_events(&old, 8).await;
        let fork = old.fork(8, "fork").await.unwrap();
        // Another message under that key is refused by the one and taken by the other.
        assert!(old.send(A, &5).idempotency_key("k").await.is_err());
        assert!(
            !fork
                .send(A, &5)
                .idempotency_key("k")
                .await
                .unwrap()
                .duplicate
        );
    })
    .await;
}

#[tokio::test]
async fn m43_items_of_streams_and_views_are_those_of_its_history() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let old = charged(&runtime, "old", &[1, 2]).await;
        let fork = old.fork(8, "fork").await.unwrap();
        let shown = fork.view(TOTAL).await.unwrap().unwrap();
        assert_eq!(shown.value, 1);
        fork.send(A, &10).await.unwrap();
        has_events(&fork, 14).await;
        for (run, expected) in [(&old, [1, 3]), (&fork, [1, 11])] {
            let mut items = run.stream(OUTPUT);
            for (number, value) in (1..).zip(expected) {
                let item = soon(items.next()).await.unwrap().unwrap();
                assert_eq!((item.number, item.value), (number, value));
            }
        }
    })
    .await;
}
