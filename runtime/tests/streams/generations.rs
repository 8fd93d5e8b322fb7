//! Streams of runs that begin anew (S28).

use perennial_runtime::{Reuse, StreamError};

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn s28_a_run_that_begins_anew_goes_on_with_the_numbers() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let client = runtime.client();
        let run = client.start(counts, "anew", 3).await.unwrap();
        assert_eq!(all(run.stream(OUTPUT)).await, [(1, 1), (2, 2), (3, 3)]);
        let again = client.start(counts, "anew", 2).reuse(Reuse::AfterFinish);
        let run = again.await.unwrap();
        run.result().await.unwrap();
        // Whoever had seen those of the first goes on with those of the second.
        assert_eq!(all(run.stream(OUTPUT).after(3)).await, [(4, 1), (5, 2)]);
        let whole = [(1, 1), (2, 2), (3, 3), (4, 1), (5, 2)];
        assert_eq!(all(run.stream(OUTPUT)).await, whole);
    })
    .await;
}

#[tokio::test]
async fn items_that_were_purged_before_the_run_began_anew_are_missed_aloud() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let client = runtime.client();
        let run = client.start(counts, "purged", 3).await.unwrap();
        run.result().await.unwrap();
        client.purge(run.id()).await.unwrap();
        let gone = soon(run.stream(OUTPUT).next()).await.unwrap().unwrap_err();
        assert!(gone.to_string().contains("was purged at"), "{gone}");
        let again = client.start(counts, "purged", 2).reuse(Reuse::AfterFinish);
        let run = again.await.unwrap();
        run.result().await.unwrap();
        let mut items = run.stream(OUTPUT).after(1);
        let missed = soon(items.next()).await.unwrap().unwrap_err();
        insta::allow_duplicates! { insta::assert_snapshot!(missed, @r#"
        after item 1 of stream "output" of run purged comes item 4: those between were purged before the run began anew

        help: go on with what there is: `.after(3)`
        "#) };
        assert!(matches!(missed, StreamError::Missed { first: 4, .. }));
        assert!(soon(items.next()).await.is_none());
        assert_eq!(all(run.stream(OUTPUT).after(3)).await, [(4, 1), (5, 2)]);
        assert_eq!(all(run.stream(OUTPUT)).await, [(4, 1), (5, 2)]);
    })
    .await;
}
