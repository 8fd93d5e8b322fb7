//! What a run accepts is recorded with its answer; what it refuses leaves nothing (O21).

use std::sync::Arc;

use perennial_runtime::UpdateError;

use crate::support::held::{HeldStore, Shared};
use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn o21_a_rejected_update_leaves_no_event_and_an_accepted_one_is_recorded_and_replayed() {
    each_place(async |place: Place| {
        {
            let runtime = runtime(place.open()).await;
            let client = runtime.client();
            let run = client.start(budget, "o21", 100).await.unwrap();
            let begun = units(&client, "o21").await;
            let refused = run.update(SET_LIMIT, &5).await;
            let why = "5 is less than 10".to_owned();
            assert_eq!(refused, Err(UpdateError::Refused(why)));
            assert_eq!(units(&client, "o21").await, begun);
            assert_eq!(run.update(SET_LIMIT, &200).await, Ok(100));
            assert_eq!(told(&client, "o21").await, ["set-limit 200"]);
            assert_eq!(units(&client, "o21").await[..begun.len()], begun);
        }
        // Each of them brings the run into memory, which is replayed.
        let runtime = cold(place.open()).await;
        let client = runtime.client();
        assert_eq!(set(&client, "o21", 300).await, Ok(200));
        let refused = set(&client, "o21", 9).await;
        assert_eq!(
            refused,
            Err(UpdateError::Refused("9 is less than 10".to_owned()))
        );
        assert_eq!(set(&client, "o21", 500).await, Ok(300));
        let run = client.run(budget, "o21").unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), 500);
        let all = ["set-limit 200", "set-limit 300", "set-limit 500"];
        assert_eq!(told(&client, "o21").await, all);
    })
    .await;
}

#[tokio::test]
async fn what_a_run_has_answered_stands_in_its_history() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let client = runtime.client();
        let run = client.start(budget, "text", 100).await.unwrap();
        run.update(SET_LIMIT, &500).await.unwrap();
        soon(run.result()).await.unwrap();
        let history = run.history().await.unwrap().history;
        insta::allow_duplicates! {
            insta::assert_snapshot!(history.text(), @"
            1 started      budget 100
            2 update       set-limit 500
            3   answered    100                                             world.rs
            4 completed    500
            ");
        }
    })
    .await;
}

#[tokio::test]
async fn s04_an_answer_is_not_given_before_it_is_durable() {
    let store = HeldStore::new();
    let runtime = runtime(Arc::new(Shared(store.clone()))).await;
    let run = runtime.client().start(budget, "held", 100).await.unwrap();
    store.hold();
    let mut update = Box::pin(run.update(SET_LIMIT, &200).into_future());
    tokio::select! {
        biased;
        answer = &mut update => panic!("{answer:?}"),
        held = soon(store.holds.acquire()) => held.unwrap().forget(),
    }
    store.release();
    assert_eq!(soon(update).await, Ok(100));
}

#[tokio::test]
async fn s04_whoever_asked_a_process_that_was_lost_is_answered_nothing_and_asks_again() {
    let store = HeldStore::new();
    {
        let runtime = runtime(Arc::new(Shared(store.clone()))).await;
        let run = runtime.client().start(budget, "lost", 100).await.unwrap();
        store.hold();
        let update = run.update(SET_LIMIT, &200).idempotency_key("once");
        let asked = tokio::spawn(update.into_future());
        soon(store.holds.acquire()).await.unwrap().forget();
        store.drop_held();
        drop(runtime);
        let lost = soon(asked).await.unwrap();
        assert!(
            matches!(lost, Err(UpdateError::Unacknowledged { .. })),
            "{lost:?}"
        );
    }
    let runtime = runtime(Arc::new(Shared(store.clone()))).await;
    let run = runtime.client().run(budget, "lost").unwrap();
    let update = run.update(SET_LIMIT, &200).idempotency_key("once");
    assert_eq!(soon(update.into_future()).await, Ok(100));
}

#[tokio::test]
async fn s04_an_answer_that_was_lost_is_given_again_under_the_same_key() {
    let store = HeldStore::new();
    {
        let runtime = runtime(Arc::new(Shared(store.clone()))).await;
        let run = runtime.client().start(budget, "lost", 100).await.unwrap();
        store.lose_next_answer();
        let update = run.update(SET_LIMIT, &200).idempotency_key("once");
        let lost = soon(update.into_future()).await;
        assert!(
            matches!(lost, Err(UpdateError::Unacknowledged { .. })),
            "{lost:?}"
        );
    }
    let runtime = runtime(Arc::new(Shared(store.clone()))).await;
    let run = runtime.client().run(budget, "lost").unwrap();
    let update = run.update(SET_LIMIT, &200).idempotency_key("once");
    assert_eq!(soon(update.into_future()).await, Ok(100));
    assert_eq!(told(&runtime.client(), "lost").await, ["set-limit 200"]);
}
