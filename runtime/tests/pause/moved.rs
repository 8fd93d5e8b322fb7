//! A paused run that is moved to a new one (S38).

use perennial::prelude::*;
use perennial_runtime::PauseError;

use crate::support::each_store;
use crate::world::*;

#[workflow]
async fn several_v2(cx: &Cx, more: u64) -> Result<u64, Error> {
    Ok(cx.receive(A).await? + more)
}

#[migration(from = several, to = several_v2)]
fn to_v2(old: &OldRun) -> Result<u64, Refuse> {
    old.input()
}

#[tokio::test]
async fn m45_a_run_that_is_moved_stays_paused_under_its_new_name() {
    each_store(async |store| {
        let builder = builder(store, &World::new()).workflow(several_v2);
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let old = client.start(several, "old", 30).await.unwrap();
        let since = old.pause().await.unwrap().at;
        let new = client.migrate("old", to_v2, "new").await.unwrap();
        let info = new.status().await.unwrap();
        assert_eq!((info.paused, info.events), (Some(since), 0));
        assert_eq!(old.status().await.unwrap().paused, None);
        new.send(A, &12).await.unwrap();
        assert_eq!(events(&new).await, 0);
        new.resume().await.unwrap();
        assert_eq!(soon(new.result()).await.unwrap(), 42);

        let error = old.pause().await.unwrap_err();
        assert!(
            matches!(&error, PauseError::Finished { migrated_to: Some(to), .. } if to == new.id()),
            "{error}"
        );
    })
    .await;
}
