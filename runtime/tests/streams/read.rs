//! Observers: what they are told and when, and that the run does not notice.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures_core::Stream as _;
use perennial_runtime::store::{Store, StreamRange};

use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn b17_an_observer_is_told_each_item_in_order_until_the_run_has_ended() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let client = runtime.client();
        let run = client.start(echo, "b17", 20).await.unwrap();
        // It waits before there is such a stream.
        let mut early = run.stream(OUTPUT);
        assert!(is_pending(&mut early).await);
        for number in 1..=20 {
            go(&run, [number * 10]).await;
            assert_eq!(next(&mut early).await, (number, number * 10));
        }
        assert!(soon(early.next()).await.is_none());
        let expected: Vec<_> = (1..=20).map(|number| (number, number * 10)).collect();
        assert_eq!(all(client.stream(run.id(), OUTPUT)).await, expected);
        assert_eq!(all(run.stream(NOTES)).await.len(), 20);
    })
    .await;
}

#[tokio::test]
async fn b17_many_observers_of_a_run_that_gives_out_much_are_all_told_all() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(echo, "b17-many", 300).await.unwrap();
        let observers: Vec<_> = (0..4)
            .map(|late| {
                let items = run.stream(OUTPUT).after(late);
                tokio::spawn(async move { all(items).await })
            })
            .collect();
        go(&run, 1..=300).await;
        for (late, observer) in (0..).zip(observers) {
            let expected: Vec<_> = (late + 1..=300).map(|number| (number, number)).collect();
            assert_eq!(soon(observer).await.unwrap(), expected);
        }
    })
    .await;
}

#[tokio::test]
async fn b16_an_observer_that_leaves_items_out_goes_on_where_it_was() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(echo, "b16", 30).await.unwrap();
        let (mut seen, mut kept) = (0, Vec::new());
        for round in 0..6 {
            // A new observer each time, as after a lost connection; it leaves out what is no multiple of three.
            let mut items = run.stream(OUTPUT).after(seen);
            go(&run, round * 5 + 1..=round * 5 + 5).await;
            for _ in 0..5 {
                let (number, value) = next(&mut items).await;
                seen = number;
                if value % 3 == 0 {
                    kept.push(value);
                }
            }
        }
        assert_eq!(kept, [3, 6, 9, 12, 15, 18, 21, 24, 27, 30]);
        assert_eq!(seen, 30);
        assert_eq!(all(run.stream(OUTPUT).after(seen)).await, []);
    })
    .await;
}

/// Reads a stream through the trait, as combinators do.
#[tokio::test]
async fn items_are_a_stream_that_others_can_filter_and_merge() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(counts, "trait", 100).await.unwrap();
        let mut items = Box::pin(run.stream(OUTPUT));
        let mut numbers = Vec::new();
        while let Some(item) = soon(poll_fn(|context| {
            Pin::as_mut(&mut items).poll_next(context)
        }))
        .await
        {
            numbers.push(item.unwrap().number);
        }
        assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn a_wait_for_an_item_that_is_given_up_loses_nothing() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(echo, "given-up", 3).await.unwrap();
        let mut items = run.stream(OUTPUT);
        for number in 1..=3 {
            for _ in 0..3 {
                assert!(is_pending(&mut items).await);
            }
            go(&run, [number]).await;
            assert_eq!(next(&mut items).await, (number, number));
        }
    })
    .await;
}

/// Whether there is nothing to be had now, which is so also while it is looked for.
async fn is_pending(items: &mut perennial_runtime::Items<u64>) -> bool {
    let mut next = Box::pin(items.next());
    poll_fn(|context| Poll::Ready(next.as_mut().poll(context).is_pending())).await
}

/// O20: what the store has of the run is the same to the last number, and the run was not brought into memory.
#[tokio::test]
async fn o20_reading_changes_nothing_of_a_run_that_is_warm_cold_or_over() {
    each_place(async |place: Place| {
        {
            let runtime = runtime(place.open()).await;
            let run = runtime.client().start(echo, "parked", 9).await.unwrap();
            go(&run, 1..=4).await;
            let _ = next(&mut run.stream(OUTPUT).after(3)).await;
            runtime.client().start(counts, "over", 5).await.unwrap();
        }
        for warm in [true, false] {
            let store = place.open();
            let runtime = if warm {
                runtime(store.clone()).await
            } else {
                cold(store.clone()).await
            };
            let client = runtime.client();
            if warm {
                let run = client.run(echo, "parked").unwrap();
                go(&run, [5]).await;
                let _ = next(&mut run.stream(OUTPUT).after(4)).await;
            }
            for (id, items) in [("parked", 5), ("over", 5)] {
                let before = look(&*store, id);
                let run = id.parse().unwrap();
                for after in 0..=items {
                    let read = client.stream(&run, OUTPUT).after(after).no_wait();
                    assert_eq!(all(read).await.len() as u64, items - after);
                }
                assert_eq!(client.streams(&run).await.unwrap()[0].last, items);
                let read = client.stream_json(&run, "output").no_wait();
                assert_eq!(all(read).await.len() as u64, items);
                assert_eq!(look(&*store, id), before);
            }
            let _ = soon(runtime.drain(std::time::Duration::ZERO)).await;
        }
    })
    .await;
}

/// All that a store has of a run: who owns it too, which would be another one had it been claimed.
pub(crate) fn look(store: &dyn Store, id: &str) -> String {
    let run = key(id);
    let loaded = store.load(&run).unwrap();
    let history = store.history(&run, 1, 1, usize::MAX).unwrap();
    let records: Vec<_> = history
        .iter()
        .map(perennial::history::encode_unit)
        .collect();
    format!("{loaded:?} {records:?}")
}

#[tokio::test]
async fn a_reader_that_does_not_wait_ends_at_the_last_item_and_streams_are_listed() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let client = runtime.client();
        let run = client.start(echo, "listed", 3).await.unwrap();
        assert_eq!(all(run.stream(OUTPUT).no_wait()).await, []);
        assert_eq!(client.streams(run.id()).await.unwrap(), []);
        go(&run, [1, 2]).await;
        let _ = next(&mut run.stream(OUTPUT).after(1)).await;
        assert_eq!(all(run.stream(OUTPUT).no_wait()).await, [(1, 1), (2, 2)]);
        let streams = client.streams(run.id()).await.unwrap();
        let named = |name: &str, last| StreamRange {
            name: name.into(),
            first: 1,
            last,
        };
        assert_eq!(streams, [named("output", 2), named("notes", 1)]);
        let json = client.stream_json(run.id(), "notes").no_wait();
        let json: Vec<_> = all(json).await;
        assert_eq!(json[0].1.as_json(), "\"2 is even\"");
    })
    .await;
}
