//! Request and reply (B20): whoever asks waits for what the run says to that, in its time.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use perennial::prelude::*;
use perennial_runtime::store::Status;
use perennial_runtime::{Client, FulfilError, RequestError, Runtime};

use crate::support::clock::Set;
use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn b20_a_caller_waits_for_the_reply_of_the_run() {
    for warm_memory in [0, 1 << 20] {
        each_store(async |store| {
            let builder = builder(store, &World::new()).warm_memory(warm_memory);
            let runtime = builder.start().await.unwrap();
            let client = runtime.client();
            let run = client.start(echo, "b20", ()).await.unwrap();
            let mut reference = "b20~1".parse().unwrap();
            for number in 2..6 {
                let said = format!("word {number}");
                let reply = soon(client.request(&reference, turn, &said).into_future());
                let reply = reply.await.unwrap();
                assert_eq!(reply.value, said.to_uppercase());
                assert_eq!(reply.reference.number, number);
                reference = reply.reference;
            }
            client.fulfil(&reference, turn, &text("bye")).await.unwrap();
            assert_eq!(soon(run.result()).await.unwrap(), "bye");
        })
        .await;
    }
}

#[tokio::test]
async fn b20_a_request_that_is_made_again_is_given_once_and_has_the_same_reply() {
    each_place(async |place: Place| {
        let first = runtime(place.open(), &World::new()).await;
        let client = first.client();
        client.start(echo, "b20-again", ()).await.unwrap();
        let request = |client: &Client, said: &str| {
            soon(
                client
                    .request("b20-again~1", turn, &text(said))
                    .into_future(),
            )
        };
        let reply = request(&client, "a").await.unwrap();
        for _ in 0..2 {
            assert_eq!(request(&client, "a").await.unwrap(), reply);
        }
        assert!(matches!(
            request(&client, "b").await,
            Err(RequestError::NotGiven(FulfilError::Conflict { .. }))
        ));
        drop((client, first));
        let second = runtime(place.open(), &World::new()).await;
        let client = second.client();
        assert_eq!(request(&client, "a").await.unwrap(), reply);
        client
            .fulfil(&reply.reference, turn, &text("bye"))
            .await
            .unwrap();
        let run = client.run(echo, "b20-again").unwrap();
        soon(run.result()).await.unwrap();
        // It is the reply to that for ever.
        assert_eq!(request(&client, "a").await.unwrap(), reply);
        let history = run.history().await.unwrap().history;
        let told = history.units.iter().filter(|unit| {
            matches!(
                unit.observation,
                perennial::history::Observation::StubFulfilled { .. }
            )
        });
        assert_eq!(told.count(), 2);
    })
    .await;
}

#[tokio::test]
async fn b20_a_reply_that_does_not_come_in_time_is_there_for_the_next_try() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let client = runtime.client();
        client.start(echo, "b20-late", ()).await.unwrap();
        let request = || client.request("b20-late~1", turn, &text("wait"));
        let error = soon(request().timeout(Duration::ZERO).into_future()).await;
        let error = error.unwrap_err();
        assert!(matches!(&error, RequestError::TimedOut { .. }), "{error}");
        insta::assert_snapshot!("b20_timed_out", error);
        world.begun().await;
        world.open(1);
        let reply = soon(request().into_future()).await.unwrap();
        assert_eq!(reply.value, "WAIT");
    })
    .await;
}

#[tokio::test]
async fn b20_a_run_that_ends_first_is_told_as_that() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let mut texts = Vec::new();
        for (id, said, status) in [
            ("b20-ends", "bye", Status::Completed),
            ("b20-fails", "oh", Status::Failed),
        ] {
            client.start(echo, id, ()).await.unwrap();
            let reference = format!("{id}~1");
            // The second time it has ended before the request.
            for _ in 0..2 {
                let request = client.request(&reference, turn, &text(said));
                let error = soon(request.into_future()).await.unwrap_err();
                let RequestError::RunEnded { ended, .. } = &error else {
                    panic!("{error}")
                };
                assert_eq!(ended.status, status);
                texts.push(error.to_string().replace(&ended.at.to_string(), "<when>"));
            }
        }
        texts.dedup();
        insta::assert_snapshot!("b20_ended", texts.join("\n---\n"));
        let never = client.request("b20-ends~7", turn, &text("a"));
        assert!(matches!(
            soon(never.into_future()).await,
            Err(RequestError::NotGiven(FulfilError::NoSuchOperation { .. }))
        ));
    })
    .await;
}

#[tokio::test]
async fn b20_of_two_callers_one_has_the_reply() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        for round in 0..10 {
            let id = format!("b20-two-{round}");
            client.start(echo, &id, ()).await.unwrap();
            let reference = format!("{id}~1");
            let ask = |said: &str| {
                let request = client.request(&reference, turn, &text(said));
                tokio::spawn(request.into_future())
            };
            let both = (ask("one"), ask("other"));
            match (soon(both.0).await.unwrap(), soon(both.1).await.unwrap()) {
                (Ok(reply), Err(RequestError::NotGiven(_))) => assert_eq!(reply.value, "ONE"),
                (Err(RequestError::NotGiven(_)), Ok(reply)) => assert_eq!(reply.value, "OTHER"),
                both => panic!("{both:?}"),
            }
        }
    })
    .await;
}

mod next {
    use super::*;

    #[workflow(name = "echo")]
    pub(super) async fn changed(cx: &Cx) -> Result<String, Error> {
        cx.sleep(hours(1)).await?;
        Ok(String::new())
    }
}

#[tokio::test]
async fn b20_a_run_that_this_program_cannot_go_on_with_replies_when_another_does() {
    each_place(async |place: Place| {
        let first = runtime(place.open(), &World::new()).await;
        first.client().start(echo, "b20-blocked", ()).await.unwrap();
        drop(first);
        let bad = Runtime::builder(place.open()).workflow(next::changed);
        let bad = bad.artifact("bad").shards(1).start().await.unwrap();
        let ask = |client: &Client| {
            soon(
                client
                    .request("b20-blocked~1", turn, &text("a"))
                    .into_future(),
            )
        };
        assert!(matches!(
            ask(&bad.client()).await,
            Err(RequestError::RunBlocked { .. })
        ));
        drop(bad);
        let good = runtime(place.open(), &World::new()).await;
        assert_eq!(ask(&good.client()).await.unwrap().value, "A");
    })
    .await;
}

#[tokio::test]
async fn b20_a_caller_whose_runtime_stops_is_told_that() {
    each_place(async |place: Place| {
        let world = World::new();
        let runtime = runtime(place.open(), &world).await;
        let client = runtime.client();
        client.start(echo, "b20-stops", ()).await.unwrap();
        let request = client.request("b20-stops~1", turn, &text("wait"));
        let waits = tokio::spawn(request.into_future());
        world.begun().await;
        drop(runtime);
        assert!(matches!(
            soon(waits).await.unwrap(),
            Err(RequestError::Unavailable(_))
        ));
    })
    .await;
}

/// Two runs: the one asks, the other answers by the reference that it was sent.
async fn two_runs(place: &Place, clock: &Set) -> (Runtime, Arc<World>) {
    let (world, shared) = (World::new(), Arc::new(OnceLock::new()));
    let builder = builder(place.open(), &world).state(Arc::clone(&shared));
    let runtime = builder.clock(clock.clone()).start().await.unwrap();
    shared.set(runtime.client()).unwrap();
    (runtime, world)
}

#[tokio::test]
async fn b20_a_run_asks_another_and_is_answered_once() {
    each_place(async |place: Place| {
        let (runtime, world) = two_runs(&place, &Set::new()).await;
        let client = runtime.client();
        let other = client.start(answers, "b20-other", ()).await.unwrap();
        let run = client
            .start(asks, "b20-asks", text("b20-other"))
            .await
            .unwrap();
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), Some(text("well")));
        assert_eq!(soon(other.result()).await.unwrap(), "given");
    })
    .await;
}

#[tokio::test]
async fn b20_an_answer_that_comes_after_the_caller_has_gone_on_is_refused() {
    each_place(async |place: Place| {
        let clock = Set::new();
        let (first, world) = two_runs(&place, &clock).await;
        let client = first.client();
        client.start(answers, "b20-other", ()).await.unwrap();
        client
            .start(asks, "b20-asks", text("b20-other"))
            .await
            .unwrap();
        world.begun().await;
        until(async || {
            let waits = waiting(&client).await;
            waits.iter().any(|wait| wait.deadline.is_some())
        })
        .await;
        drop((client, first));
        clock.at(2 * 86_400);
        let (second, world) = two_runs(&place, &clock).await;
        let client = second.client();
        let run = client.run(asks, "b20-asks").unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), None);
        world.open(1);
        let other = client.run(answers, "b20-other").unwrap();
        let said = soon(other.result()).await.unwrap();
        assert!(
            said.contains("b20-asks~1 (`review`) was not completed, since its run completed"),
            "{said}"
        );
    })
    .await;
}
