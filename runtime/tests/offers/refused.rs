//! What is no offer, or none any more of that kind, is refused, each in its way (B12, B13), and nothing comes of it.

use perennial::value::Value;
use perennial_runtime::{FulfilError, Runtime};

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn b12_what_is_not_offered_is_refused_each_in_its_way() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let client = runtime.client();
        let run = client.start(both, "b12", ()).await.unwrap();
        world.begun().await;
        let so = text("so");
        let errors = [
            client.fulfil("nobody~1", review, &so).await,
            client.fulfil("b12~9", review, &so).await,
            // An activity.
            client.fulfil("b12~3", review, &so).await,
            client.fulfil("b12~2", review, &so).await,
            client.fulfil_json("b12~1", "revue", Value::null()).await,
            client
                .fulfil_json("b12~1", "review", Value::encode(&42).unwrap())
                .await,
        ];
        let errors = errors.map(|result| result.unwrap_err());
        assert!(matches!(
            &errors,
            [
                FulfilError::RunNotFound { .. },
                FulfilError::NoSuchOperation { .. },
                FulfilError::NotAStub { .. },
                FulfilError::OtherStub { .. },
                FulfilError::OtherStub { .. },
                FulfilError::WrongType { .. },
            ]
        ));
        insta::assert_snapshot!("b12", errors.map(|error| error.to_string()).join("\n---\n"));
        // Nothing has come of it.
        assert_eq!(waiting(&client).await.len(), 2);
        client.fulfil("b12~1", review, &so).await.unwrap();
        let yes = Value::encode(&true).unwrap();
        client.fulfil_json("b12~2", "approve", yes).await.unwrap();
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), (so, true));
    })
    .await;
}

#[tokio::test]
async fn b12_of_a_stub_that_this_program_does_not_know_any_value_is_taken() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(asks_hidden, "hidden", ()).await.unwrap();
        let wrong = Value::encode(&"seven").unwrap();
        client
            .fulfil_json("hidden~1", "secret", wrong)
            .await
            .unwrap();
        // The run is told what is wrong with it, and it is the run's to decide.
        let error = soon(run.result()).await.unwrap_err();
        assert!(error.to_string().contains("secret"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn b12_a_stub_that_is_registered_is_known() {
    each_store(async |store| {
        let builder = builder(store, &World::new()).stub(secret);
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let run = client.start(asks_hidden, "known", ()).await.unwrap();
        let value = |text: &str| Value::from_json(text.to_owned()).unwrap();
        let wrong = client
            .fulfil_json("known~1", "secret", value("\"seven\""))
            .await;
        assert!(matches!(
            wrong,
            Err(FulfilError::WrongType {
                expected: "u64",
                ..
            })
        ));
        client
            .fulfil_json("known~1", "secret", value("7"))
            .await
            .unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), 7);
    })
    .await;
}

#[tokio::test]
async fn b13_a_reference_says_itself_of_which_run_it_is() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(once, "b13", text("why?")).await.unwrap();
        client.start(once, "b13-other", text("why?")).await.unwrap();
        let so = text("so");
        let errors = [
            run.fulfil("b13-other~1", review, &so).await,
            // Whether there is such a run does not matter.
            run.fulfil("nobody~1", review, &so).await,
            client.fulfil("b13", review, &so).await,
            client.fulfil("b13~", review, &so).await,
            client.fulfil("b13~01", review, &so).await,
            client.fulfil("~1", review, &so).await,
        ];
        let errors = errors.map(|result| result.unwrap_err());
        for error in &errors[..2] {
            assert!(matches!(error, FulfilError::OtherRun { .. }), "{error}");
        }
        for error in &errors[2..] {
            assert!(matches!(error, FulfilError::InvalidReference(_)), "{error}");
        }
        insta::assert_snapshot!("b13", errors.map(|error| error.to_string()).join("\n---\n"));
        assert_eq!(waiting(&client).await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn b13_a_namespace_has_runs_of_its_own() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let other = client.in_namespace("other".parse().unwrap());
        let here = client.start(once, "b13-two", text("why?")).await.unwrap();
        let there = other.start(once, "b13-two", text("why?")).await.unwrap();
        client
            .fulfil("b13-two~1", review, &text("a"))
            .await
            .unwrap();
        assert_eq!(waiting(&other).await.len(), 1);
        other.fulfil("b13-two~1", review, &text("b")).await.unwrap();
        assert_eq!(soon(here.result()).await.unwrap(), "a");
        assert_eq!(soon(there.result()).await.unwrap(), "b");
    })
    .await;
}

#[tokio::test]
async fn a_value_that_cannot_be_stored_is_refused() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        client.start(once, "large", text("why?")).await.unwrap();
        let large = "x".repeat(2 << 20);
        let error = client.fulfil("large~1", review, &large).await.unwrap_err();
        insta::assert_snapshot!("large", error);
        assert_eq!(waiting(&client).await.len(), 1);
    })
    .await;
}

mod later {
    use perennial::prelude::*;

    /// The same as a later program has it.
    #[stub]
    async fn review(cx: &Cx, question: String) -> u64;

    #[workflow]
    pub(super) async fn once(cx: &Cx, question: String) -> Result<u64, Error> {
        Ok(review(cx, question).await?)
    }
}

#[tokio::test]
async fn b07_b12_a_value_that_was_given_is_known_though_the_stub_has_another_type_by_now() {
    crate::support::each_place(async |place| {
        let first = runtime(place.open(), &World::new()).await;
        let client = first.client();
        let run = client.start(once, "b07", text("why?")).await.unwrap();
        let so = || Value::encode(&"so").unwrap();
        let receipt = client.fulfil_json("b07~1", "review", so()).await.unwrap();
        soon(run.result()).await.unwrap();
        drop((run, client, first));
        let second = Runtime::builder(place.open()).workflow(later::once);
        let second = second.start().await.unwrap();
        let client = second.client();
        let again = client.fulfil_json("b07~1", "review", so()).await.unwrap();
        assert_eq!((again.number, again.duplicate), (receipt.number, true));
        let other = Value::encode(&"not so").unwrap();
        let other = client.fulfil_json("b07~1", "review", other).await;
        assert!(
            matches!(other, Err(FulfilError::WrongType { .. })),
            "{other:?}"
        );
    })
    .await;
}
