//! What goes wrong where a stream is read, as texts.

use perennial::prelude::*;
use perennial_runtime::StreamError;

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn b18_an_item_of_another_type_is_told_and_the_next_can_be_read() {
    const TEXTS: Stream<String> = Stream::new("output");
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(counts, "b18", 2).await.unwrap();
        let mut items = run.stream(TEXTS);
        for expected in 1..=2 {
            let error = soon(items.next()).await.unwrap().unwrap_err();
            assert!(
                matches!(error, StreamError::Undecodable { number, .. } if number == expected)
            );
            if expected == 1 {
                insta::allow_duplicates! { insta::assert_snapshot!(error, @r#"
                item 1 of stream "output" of run b18 is not of the type that it is read as: the value does not decode as `alloc::string::String`: invalid type: integer `1`, expected a string

                help: read it as the program that gave it out did, or as JSON, with `client.stream_json(..)`; for another type of item declare a stream of another name
                "#) };
            }
        }
        assert!(soon(items.next()).await.is_none());
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_not_there_has_no_items() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let client = runtime.client();
        let nobody: RunId = "nobody".parse().unwrap();
        let mut items = client.stream(&nobody, OUTPUT);
        let error = soon(items.next()).await.unwrap().unwrap_err();
        insta::allow_duplicates! { insta::assert_snapshot!(error, @"
        there is no run nobody

        help: `client.list()` shows the runs of a namespace
        ") };
        assert!(soon(items.next()).await.is_none());
        assert!(client.streams(&nobody).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn whoever_waits_for_an_item_is_told_when_the_runtime_stops() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(echo, "stopped", 1).await.unwrap();
        let mut items = run.stream(OUTPUT);
        let waits = tokio::spawn(async move { items.next().await });
        tokio::task::yield_now().await;
        drop(runtime);
        let error = soon(waits).await.unwrap().unwrap().unwrap_err();
        assert!(matches!(error, StreamError::Read(_)), "{error}");
    })
    .await;
}
