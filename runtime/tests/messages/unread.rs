//! Messages that their run did not take (M42), and what of them the next generation has (M43).

use perennial_runtime::{MessageState, ReadError, Reuse};

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn m42_a_run_that_ends_keeps_what_it_did_not_read_until_it_is_purged() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store.clone(), &world).await;
        let client = runtime.client();
        let run = client.start(deaf, "m42", 0).await.unwrap();
        world.begun().await;
        run.send(A, &1).await.unwrap();
        run.signal(BELL, &1).await.unwrap();
        run.send(B, &2).idempotency_key("k").await.unwrap();
        world.open(1);
        soon(run.result()).await.unwrap();
        let inbox = store.head(&key("m42")).unwrap().unwrap().inbox;
        assert_eq!((inbox.messages, inbox.signals), (2, 0));
        let listed = messages(&run).await;
        assert_eq!(listed.len(), 2);
        assert!(
            listed
                .iter()
                .all(|message| message.state == MessageState::Unread)
        );
        client.purge(run.id()).await.unwrap();
        let purged = run.list_messages().page().await;
        assert!(
            matches!(purged, Err(ReadError::Purged { .. })),
            "{purged:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_run_that_begins_anew_has_an_empty_inbox_and_numbers_that_go_on() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let client = runtime.client();
        let run = client.start(deaf, "anew", 0).await.unwrap();
        run.send(A, &1).idempotency_key("k").await.unwrap();
        world.open(1);
        soon(run.result()).await.unwrap();
        let again = client.start(deaf, "anew", 0).reuse(Reuse::AfterFinish);
        let run = again.await.unwrap();
        assert_eq!(messages(&run).await, []);
        let receipt = run.send(A, &1).idempotency_key("k").await.unwrap();
        assert_eq!((receipt.number, receipt.duplicate), (2, false));
        assert_eq!(messages(&run).await.len(), 1);
        world.open(1);
        soon(run.result()).await.unwrap();
    })
    .await;
}
