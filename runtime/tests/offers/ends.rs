//! Offers that are over: the run has ended, dropped them, or their time has come (B7, B11).

use perennial_runtime::store::Status;
use perennial_runtime::{FulfilError, OfferStatus};

use crate::support::clock::Set;
use crate::support::{Place, each_place, each_store};
use crate::world::*;

/// In seconds.
const DAY: u64 = 86_400;

#[tokio::test]
async fn b07_a_stale_offer_takes_the_value_that_it_had_and_no_other() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(in_turn, "b07", 2).await.unwrap();
        client.fulfil("b07~1", review, &text("a")).await.unwrap();
        until(async || !waiting(&client).await.is_empty()).await;
        for _ in 0..2 {
            let again = client.fulfil("b07~1", review, &text("a")).await.unwrap();
            assert!(again.duplicate);
            assert!(matches!(
                client.fulfil("b07~1", review, &text("b")).await,
                Err(FulfilError::Conflict { .. })
            ));
            // In the second round the run has ended.
            client.fulfil("b07~2", review, &text("c")).await.unwrap();
            assert_eq!(soon(run.result()).await.unwrap(), ["a", "c"]);
        }
    })
    .await;
}

#[tokio::test]
async fn b11_the_end_of_a_run_closes_what_it_has_offered() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let client = first.client();
        for (id, well) in [("b11", true), ("b11-fails", false)] {
            let run = client.start(leaves, id, well).await.unwrap();
            world.begun().await;
            world.open(1);
            assert_eq!(soon(run.result()).await.is_ok(), well);
        }
        let mut texts = Vec::new();
        for (id, status) in [("b11", Status::Completed), ("b11-fails", Status::Failed)] {
            let error = client
                .fulfil(format!("{id}~1"), review, &text("so"))
                .await
                .unwrap_err();
            let FulfilError::Closed {
                ended: Some(ended),
                at,
                ..
            } = &error
            else {
                panic!("{error}")
            };
            assert_eq!((ended.status, ended.at), (status, *at));
            texts.push(error.to_string().replace(&at.to_string(), "<when>"));
            assert!(matches!(
                states(&client, id).await[..],
                [OfferStatus::Closed { .. }]
            ));
        }
        insta::assert_snapshot!("b11", texts.join("\n---\n"));
        assert_eq!(waiting(&client).await, []);
        drop((client, first));
        let second = runtime(place.open(), &world).await;
        assert!(matches!(
            second.client().fulfil("b11~1", review, &text("so")).await,
            Err(FulfilError::Closed { .. })
        ));
    })
    .await;
}

#[tokio::test]
async fn an_offer_that_the_run_drops_is_closed_with_that() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let client = runtime.client();
        let run = client.start(gives_up, "drops", ()).await.unwrap();
        world.begun().await;
        assert_eq!(waiting(&client).await.len(), 1);
        world.open(1);
        // It does the next thing once that is durable.
        world.begun().await;
        assert_eq!(waiting(&client).await, []);
        let error = client
            .fulfil("drops~1", review, &text("so"))
            .await
            .unwrap_err();
        let FulfilError::Closed {
            at, ended: None, ..
        } = &error
        else {
            panic!("{error}")
        };
        insta::assert_snapshot!(
            "dropped",
            error.to_string().replace(&at.to_string(), "<when>")
        );
        world.open(1);
        soon(run.result()).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn rw47_4_a_time_that_is_over_is_told_to_the_run_and_to_whoever_comes_late() {
    each_place(async |place: Place| {
        let clock = Set::new();
        let process = async || {
            let builder = builder(place.open(), &World::new()).clock(clock.clone());
            builder.start().await.unwrap()
        };
        let first = process().await;
        let client = first.client();
        let run = client.start(limited, "rw47-4", ()).await.unwrap();
        let [waits] = &waiting(&client).await[..] else {
            panic!("it waits for one thing")
        };
        let deadline = waits.deadline.unwrap();
        assert_eq!(deadline, waits.since + perennial::days(2));
        // The timer has not rung, and nobody gets in before it any more.
        clock.at(2 * DAY);
        assert!(matches!(
            run.fulfil("rw47-4~1", review, &text("so")).await,
            Err(FulfilError::Closed { at, ended: None, .. }) if at == deadline
        ));
        drop((client, first));
        let second = process().await;
        let client = second.client();
        let run = client.run(limited, "rw47-4").unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), None);
        assert_eq!(waiting(&client).await, []);
        assert!(matches!(
            states(&client, "rw47-4").await[..],
            [OfferStatus::Closed { .. }]
        ));
        assert!(matches!(
            run.fulfil("rw47-4~1", review, &text("so")).await,
            Err(FulfilError::Closed { ended: Some(_), .. })
        ));
    })
    .await;
}

#[tokio::test]
async fn a_value_that_came_before_the_time_was_over_wins_though_the_run_goes_on_after_it() {
    each_place(async |place: Place| {
        let clock = Set::new();
        let process = async || {
            let builder = builder(place.open(), &World::new()).clock(clock.clone());
            builder.start().await.unwrap()
        };
        let first = process().await;
        let client = first.client();
        client.start(limited, "in-time", ()).await.unwrap();
        clock.at_millis(2 * DAY * 1_000 - 1);
        client
            .fulfil("in-time~1", review, &text("so"))
            .await
            .unwrap();
        drop((client, first));
        clock.at(3 * DAY);
        let second = process().await;
        let run = second.client().run(limited, "in-time").unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), Some(text("so")));
    })
    .await;
}
