//! What cannot be forked, and says so.

use std::sync::Arc;

use perennial::prelude::*;
use perennial_runtime::store::{MemoryStore, Store};
use perennial_runtime::{ForkError, Runtime};

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn what_cannot_be_forked_says_why_and_makes_nothing() {
    each_store(async |store| {
        let runtime = runtime(store.clone(), &World::new()).await;
        let client = runtime.client();
        let old = charged(&runtime, "old", &[1]).await;
        let ended = client.start(adds, "ended", ()).await.unwrap();
        ended.send(A, &0).await.unwrap();
        soon(ended.result()).await.unwrap();
        let purged = client.start(adds, "purged", ()).await.unwrap();
        purged.send(A, &0).await.unwrap();
        soon(purged.result()).await.unwrap();
        client.purge(purged.id()).await.unwrap();
        old.fork(2, "there").await.unwrap();
        let nobody = "nobody".parse().unwrap();
        let errors = [
            client.fork(&nobody, 1, "fork").await.unwrap_err(),
            purged.fork(1, "fork").await.unwrap_err(),
            old.fork(0, "fork").await.unwrap_err(),
            old.fork(9, "fork").await.unwrap_err(),
            ended.fork(5, "fork").await.unwrap_err(),
            old.fork(2, "ended").await.unwrap_err(),
            old.fork(2, "there").await.unwrap_err(),
            old.fork(2, "old").await.unwrap_err(),
            old.fork(2, "a fork").await.unwrap_err(),
        ];
        let text = errors.map(|error| error.to_string()).join("\n---\n");
        let text: Vec<_> = text
            .lines()
            .map(|line| match line.split_once(" was purged ") {
                Some((run, _)) => format!("{run} was purged [time]"),
                None => line.to_owned(),
            })
            .collect();
        insta::assert_snapshot!("refused", text.join("\n"));
        assert_eq!(store.head(&key("fork")).unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_workflow_that_the_program_does_not_have_is_named() {
    crate::support::each_place(async |place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let old = charged(&first, "old", &[]).await;
        drop(old);
        drop(first);
        let builder = Runtime::builder(place.open()).workflow(later);
        let second = builder.artifact("other").start().await.unwrap();
        let forked = second
            .client()
            .fork(&"old".parse().unwrap(), 1, "fork")
            .await;
        let error = forked.unwrap_err();
        let ForkError::Blocked { error: why, .. } = &error else {
            panic!("{error}")
        };
        assert!(why.to_string().contains("`adds`"), "{why}");
        // The other run is not blocked by that.
        let text = error.to_string();
        let lead = "run old was not forked from event 1, since the code that runs now does not come there. It stands as \
                    it did; a run with its history up to there would be told:\n\n";
        assert!(text.starts_with(lead), "{text}");
        drop(second);
    })
    .await;
}

/// Keeps twelve large values each time that it is told something.
#[workflow]
async fn large(cx: &Cx) -> Result<(), Error> {
    loop {
        cx.receive(A).await?;
        for _ in 0..12 {
            let _: String = cx.record("large", || "x".repeat(1_000_000));
        }
    }
}

#[tokio::test]
async fn a_fork_begins_with_so_much_history_and_no_more() {
    let store = Arc::new(MemoryStore::new());
    let builder = Runtime::builder(store.clone() as Arc<dyn Store>).workflow(large);
    let runtime = builder.artifact("test").start().await.unwrap();
    let run = runtime.client().start(large, "large", ()).await.unwrap();
    for round in 1..=6 {
        run.send(A, &round).await.unwrap();
        has_events(&run, 2 + 15 * round).await;
    }
    let error = run.fork(92, "fork").await.unwrap_err();
    let ForkError::TooLarge { event: 92, .. } = &error else {
        panic!("{error}")
    };
    insta::assert_snapshot!("too_large", error);
    assert_eq!(store.head(&key("fork")).unwrap(), None);
    run.fork(77, "fork").await.unwrap();
}
