//! Updates and runs that end, drain, or go.

use perennial_runtime::{Unavailable, UpdateError};

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn m07_a_run_that_has_ended_is_told_so_with_how_and_when() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let client = runtime.client();
        let run = client.start(budget, "over", 500).await.unwrap();
        soon(run.result()).await.unwrap();
        let error = set(&client, "over", 600).await.unwrap_err();
        let UpdateError::RunFinished { finished, .. } = &error else {
            panic!("{error:?}")
        };
        let text = error.to_string().replace(&finished.to_string(), "[time]");
        insta::allow_duplicates! {
            insta::assert_snapshot!(text, @"
            nothing was done, since run over completed at [time]

            help: `client.status(..)` shows how a run stands; the result of one that has ended does not change
            ");
        }
        client.purge(run.id()).await.unwrap();
        let error = set(&client, "over", 600).await.unwrap_err();
        assert!(matches!(error, UpdateError::RunFinished { .. }), "{error:?}");
    })
    .await;
}

#[tokio::test]
async fn a_program_that_drains_takes_no_updates() {
    each_store(async |store| {
        let world = World::new();
        let runtime = builder(store, &world).start().await.unwrap();
        let client = runtime.client();
        let run = client.start(late, "drains", ()).await.unwrap();
        run.send(GO, &50).await.unwrap();
        world.begun().await;
        let drains = tokio::spawn(runtime.drain(std::time::Duration::from_secs(120)));
        let refused = UpdateError::Unavailable(Unavailable::Draining);
        until(async || set(&client, "drains", 60).await == Err(refused.clone())).await;
        world.open(1);
        assert_eq!(soon(drains).await.unwrap().unfinished, 0);
    })
    .await;
}
