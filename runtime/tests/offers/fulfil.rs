//! Values that a run waits for: they are told to it once, whoever gives them and how often (B2 to B5).

use perennial::prelude::*;
use perennial::value::Value;
use perennial_runtime::{FulfilError, OfferStatus, RunState, Runtime};

use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn b02_a_value_is_told_to_the_run_that_waits_for_it() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(once, "b02", text("why?")).await.unwrap();
        let receipt = client.fulfil("b02~1", review, &text("so")).await.unwrap();
        assert_eq!((receipt.number, receipt.duplicate), (1, false));
        assert_eq!(soon(run.result()).await.unwrap(), "so");
        assert!(matches!(
            states(&client, "b02").await[..],
            [OfferStatus::Fulfilled { number: 1, .. }]
        ));
    })
    .await;
}

#[tokio::test]
async fn b02_also_to_one_that_is_not_in_memory() {
    each_store(async |store| {
        let builder = builder(store, &World::new()).warm_memory(0);
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let run = client.start(in_turn, "b02-cold", 3).await.unwrap();
        for answer in ["a", "b", "c"] {
            let mut waits = None;
            until(async || {
                let page = run.offers().open().page().await.unwrap();
                waits = page.offers.into_iter().next();
                waits.is_some()
            })
            .await;
            let reference = waits.unwrap().reference;
            run.fulfil(&reference, review, &text(answer)).await.unwrap();
        }
        assert_eq!(soon(run.result()).await.unwrap(), ["a", "b", "c"]);
    })
    .await;
}

#[tokio::test]
async fn b02_also_by_the_next_process() {
    each_place(async |place: Place| {
        let first = runtime(place.open(), &World::new()).await;
        let run = first.client().start(in_turn, "b02-next", 2).await.unwrap();
        run.fulfil("b02-next~1", review, &text("a")).await.unwrap();
        drop(first);
        let second = runtime(place.open(), &World::new()).await;
        let client = second.client();
        // Whether the first process has told the run of it or not.
        until(async || !waiting(&client).await.is_empty()).await;
        let run = client.run(in_turn, "b02-next").unwrap();
        run.fulfil("b02-next~2", review, &text("b")).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), ["a", "b"]);
    })
    .await;
}

#[tokio::test]
async fn b02_a_value_that_comes_before_it_is_waited_for_is_kept() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let client = runtime.client();
        let run = client.start(busy, "b02-busy", ()).await.unwrap();
        world.begun().await;
        let reference = open(&client, "b02-busy").await;
        client
            .fulfil(&reference, review, &text("so"))
            .await
            .unwrap();
        assert_eq!(waiting(&client).await, []);
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), "so");
    })
    .await;
}

#[tokio::test]
async fn b03_the_same_value_again_is_told_once() {
    each_place(async |place: Place| {
        let first = runtime(place.open(), &World::new()).await;
        let client = first.client();
        let run = client.start(in_turn, "b03", 2).await.unwrap();
        let receipt = run.fulfil("b03~1", review, &text("a")).await.unwrap();
        for _ in 0..3 {
            let again = run.fulfil("b03~1", review, &text("a")).await.unwrap();
            assert_eq!((again.number, again.at), (receipt.number, receipt.at));
            assert!(again.duplicate);
        }
        until(async || !waiting(&client).await.is_empty()).await;
        run.fulfil("b03~2", review, &text("b")).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), ["a", "b"]);
        let again = run.fulfil("b03~1", review, &text("a")).await.unwrap();
        assert!(again.duplicate);
        drop(first);
        let second = runtime(place.open(), &World::new()).await;
        let client = second.client();
        let again = client.fulfil("b03~1", review, &text("a")).await.unwrap();
        assert_eq!((again.number, again.duplicate), (receipt.number, true));
    })
    .await;
}

#[tokio::test]
async fn b04_another_value_is_a_conflict_that_names_both() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(once, "b04", text("why?")).await.unwrap();
        client.fulfil("b04~1", review, &text("so")).await.unwrap();
        let error = client
            .fulfil("b04~1", review, &text("no"))
            .await
            .unwrap_err();
        let digest = |text: &str| Value::encode(&text).unwrap().digest();
        let FulfilError::Conflict {
            recorded, given, ..
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!((**recorded, **given), (digest("so"), digest("no")));
        insta::assert_snapshot!("b04", error);
        assert_eq!(soon(run.result()).await.unwrap(), "so");
    })
    .await;
}

#[tokio::test]
async fn b05_of_two_that_answer_at_once_one_wins() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        for round in 0..20 {
            let id = format!("b05-{round}");
            let run = client.start(once, &id, text("why?")).await.unwrap();
            let reference = format!("{id}~1");
            let (one, other) = (text("one"), text("other"));
            let answers = tokio::join!(
                tokio::spawn(client.fulfil(&reference, review, &one).into_future()),
                tokio::spawn(client.fulfil(&reference, review, &other).into_future()),
            );
            let won = match (answers.0.unwrap(), answers.1.unwrap()) {
                (Ok(_), Err(FulfilError::Conflict { .. })) => "one",
                (Err(FulfilError::Conflict { .. }), Ok(_)) => "other",
                both => panic!("{both:?}"),
            };
            assert_eq!(soon(run.result()).await.unwrap(), won);
        }
    })
    .await;
}

#[tokio::test]
async fn values_and_results_reach_a_run_in_any_order() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let client = runtime.client();
        for first in 0..3 {
            let id = format!("both-{first}");
            let run = client.start(both, &id, ()).await.unwrap();
            world.begun().await;
            for step in 0..3 {
                match (first + step) % 3 {
                    0 => drop(
                        client
                            .fulfil(format!("{id}~1"), review, &text("so"))
                            .await
                            .unwrap(),
                    ),
                    1 => drop(
                        client
                            .fulfil(format!("{id}~2"), approve, &true)
                            .await
                            .unwrap(),
                    ),
                    _ => world.open(1),
                }
            }
            assert_eq!(soon(run.result()).await.unwrap(), (text("so"), true));
        }
    })
    .await;
}

mod next {
    use super::*;

    #[workflow(name = "in_turn")]
    pub(super) async fn changed(cx: &Cx, count: u64) -> Result<Vec<String>, Error> {
        cx.sleep(hours(count)).await?;
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn s16_a_blocked_run_takes_its_values_when_it_goes_on() {
    each_place(async |place: Place| {
        let first = runtime(place.open(), &World::new()).await;
        first.client().start(in_turn, "s16", 2).await.unwrap();
        drop(first);
        let bad = Runtime::builder(place.open()).workflow(next::changed);
        let bad = bad.artifact("bad").shards(1).start().await.unwrap();
        let client = bad.client();
        // Nobody has tried the run yet.
        let receipt = client.fulfil("s16~1", review, &text("a")).await.unwrap();
        let id = "s16".parse().unwrap();
        until(async || {
            let status = client.status(&id).await.unwrap();
            matches!(status.state, RunState::Blocked { .. })
        })
        .await;
        let again = client.fulfil("s16~1", review, &text("a")).await.unwrap();
        assert_eq!((again.number, again.duplicate), (receipt.number, true));
        drop(client);
        drop(bad);
        let good = runtime(place.open(), &World::new()).await;
        let client = good.client();
        until(async || !waiting(&client).await.is_empty()).await;
        client.fulfil("s16~2", review, &text("b")).await.unwrap();
        let run = client.run(in_turn, "s16").unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), ["a", "b"]);
    })
    .await;
}
