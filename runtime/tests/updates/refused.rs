//! Whatever stands against an update is told by a type of its own, and nothing is stored.

use perennial::prelude::*;
use perennial_runtime::{Runtime, UpdateError};

use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn m38_who_asks_for_what_is_not_handled_is_told_what_is() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let client = runtime.client();
        client.start(budget, "budget", 100).await.unwrap();
        client.start(late, "late", ()).await.unwrap();
        client.start(plain, "plain", ()).await.unwrap();
        let mut texts = Vec::new();
        for id in ["budget", "late", "plain"] {
            let run = id.parse().unwrap();
            let error = soon(client.update(&run, LIMITS, &1).into_future())
                .await
                .unwrap_err();
            assert!(
                matches!(error, UpdateError::NoSuchUpdate { .. }),
                "{error:?}"
            );
            texts.push(error.to_string());
        }
        for id in ["late", "nobody"] {
            texts.push(set(&client, id, 100).await.unwrap_err().to_string());
        }
        let run = "budget".parse().unwrap();
        let other = client.update(&run, OTHER, &vec!["one".to_owned()]);
        texts.push(soon(other.into_future()).await.unwrap_err().to_string());
        let large = Update::<String, u64, String>::new("set-limit");
        let large = client.update(&run, large, &"x".repeat(2 << 20));
        texts.push(soon(large.into_future()).await.unwrap_err().to_string());
        let number = Update::<f64, u64, String>::new("set-limit");
        let number = client.update(&run, number, &f64::NAN);
        texts.push(soon(number.into_future()).await.unwrap_err().to_string());
        texts.push(set(&client, "budget", 3).await.unwrap_err().to_string());
        insta::allow_duplicates! {
            insta::assert_snapshot!(texts.join("\n---\n"));
        }
        assert_eq!(told(&client, "budget").await, [""; 0]);
        assert_eq!(set(&client, "budget", 600).await, Ok(100));
    })
    .await;
}

#[tokio::test]
async fn an_answer_of_another_type_is_told_and_was_done() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(budget, "types", 100).await.unwrap();
        let answer = Update::<u64, String, String>::new("set-limit");
        let error = soon(run.update(answer, &200).into_future())
            .await
            .unwrap_err();
        assert!(
            matches!(error, UpdateError::Undecodable { .. }),
            "{error:?}"
        );
        let refusal = Update::<u64, u64, Vec<u64>>::new("set-limit");
        let refused = soon(run.update(refusal, &2).into_future()).await;
        assert!(matches!(
            refused.map_err(|error| matches!(error, UpdateError::Undecodable { .. })),
            Err(true)
        ));
        assert_eq!(set(&runtime.client(), "types", 300).await, Ok(200));
    })
    .await;
}

#[tokio::test]
async fn a_validator_that_panics_is_told_and_the_run_goes_on() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let client = runtime.client();
        let run = client.start(frail, "frail", ()).await.unwrap();
        assert_eq!(set(&client, "frail", 20).await, Ok(0));
        let error = set(&client, "frail", 13).await.unwrap_err();
        insta::allow_duplicates! {
            insta::assert_snapshot!(error.to_string(), @r#"
            "set-limit" was not done, since the validator of run frail did not come back: thirteen

            help: the run is as it was and goes on; repair the validator, which only looks and gives `Err(..)` for what it refuses
            "#);
        }
        assert_eq!(set(&client, "frail", 30).await, Ok(20));
        assert_eq!(set(&client, "frail", 500).await, Ok(30));
        assert_eq!(soon(run.result()).await.unwrap(), 500);
    })
    .await;
}

#[tokio::test]
async fn m45_a_paused_run_takes_no_updates_and_still_knows_those_that_it_has_accepted() {
    each_place(async |place: Place| {
        let (id, known) = ("paused".parse().unwrap(), "first");
        {
            let runtime = runtime(place.open()).await;
            let client = runtime.client();
            let run = client.start(budget, "paused", 100).await.unwrap();
            let first = run.update(SET_LIMIT, &200).idempotency_key(known);
            assert_eq!(soon(first.into_future()).await, Ok(100));
            let since = client.pause(&id).await.unwrap().at;
            let error = set(&client, "paused", 300).await.unwrap_err();
            assert!(matches!(error, UpdateError::RunPaused { .. }), "{error:?}");
            let text = error.to_string().replace(&since.to_string(), "[time]");
            insta::allow_duplicates! {
                insta::assert_snapshot!(text, @"
                nothing was done, since run paused is paused since [time]

                help: `client.resume(..)` lets it go on, and `perennial resume` does so from a shell; then ask again
                ");
            }
        }
        // Whether it is in memory makes no difference.
        let runtime = runtime(place.open()).await;
        let client = runtime.client();
        let error = set(&client, "paused", 300).await.unwrap_err();
        assert!(matches!(error, UpdateError::RunPaused { .. }), "{error:?}");
        let again = client.update(&id, SET_LIMIT, &200).idempotency_key(known);
        assert_eq!(soon(again.into_future()).await, Ok(100));
        client.resume(&id).await.unwrap();
        assert_eq!(set(&client, "paused", 300).await, Ok(200));
    })
    .await;
}

#[tokio::test]
async fn s14_a_handler_that_panics_blocks_the_run_and_nothing_of_it_is_stored() {
    each_place(async |place: Place| {
        {
            let runtime = runtime(place.open()).await;
            let client = runtime.client();
            client.start(frail, "frail", ()).await.unwrap();
            for limit in [17, 20] {
                let error = set(&client, "frail", limit).await.unwrap_err();
                assert!(matches!(error, UpdateError::RunBlocked { .. }), "{error:?}");
                insta::allow_duplicates! {
                    insta::assert_snapshot!(error.to_string(), @"
                    nothing was done, since run frail (frail) is blocked: the workflow's code panicked after event 1 [W101]

                    help: `client.status(..)` has the whole error, and what to do about it; ask again when the run goes on
                    ");
                }
            }
            assert_eq!(told(&client, "frail").await, [""; 0]);
        }
        // The next process tries again (S16).
        let runtime = runtime(place.open()).await;
        assert_eq!(set(&runtime.client(), "frail", 20).await, Ok(0));
    })
    .await;
}

mod other {
    use super::*;

    /// Waits for something else first, so that runs of the first one do not fit.
    #[workflow]
    pub(super) async fn budget(cx: &Cx, _limit: u64) -> Result<u64, Error> {
        cx.sleep(days(1)).await?;
        Ok(1)
    }
}

mod without {
    use super::*;

    /// Handles nothing.
    #[workflow]
    pub(super) async fn budget(cx: &Cx, _limit: u64) -> Result<u64, Error> {
        Ok(cx.receive(GO).await?)
    }
}

#[tokio::test]
async fn s16_an_update_for_a_run_that_does_not_fit_is_refused_and_one_that_it_knows_is_answered() {
    each_place(async |place: Place| {
        {
            let runtime = runtime(place.open()).await;
            let run = runtime.client().start(budget, "unfit", 100).await.unwrap();
            let update = run.update(SET_LIMIT, &200).idempotency_key("k");
            soon(update.into_future()).await.unwrap();
        }
        let program = async |builder: perennial_runtime::Builder| {
            let runtime = builder.shards(1).start().await.unwrap();
            let client = runtime.client();
            let run = "unfit".parse().unwrap();
            let error = set(&client, "unfit", 300).await.unwrap_err();
            assert!(matches!(error, UpdateError::RunBlocked { .. }), "{error:?}");
            let known = client.update(&run, SET_LIMIT, &200).idempotency_key("k");
            assert_eq!(soon(known.into_future()).await, Ok(100));
            let status = client.status(&run).await.unwrap();
            format!("{:?}", status.state)
        };
        for _ in 0..2 {
            let builder = Runtime::builder(place.open())
                .workflow(other::budget)
                .artifact("other");
            program(builder).await;
        }
        let builder = Runtime::builder(place.open())
            .workflow(without::budget)
            .artifact("without");
        let state = program(builder).await;
        assert!(state.contains("H20"), "{state}");
        let runtime = runtime(place.open()).await;
        assert_eq!(set(&runtime.client(), "unfit", 300).await, Ok(200));
    })
    .await;
}
