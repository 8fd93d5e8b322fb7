//! What cannot be paused, and says so.

use perennial_runtime::{PauseError, Status};

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn what_is_not_there_or_has_ended_is_neither_paused_nor_resumed() {
    each_store(async |store| {
        let runtime = runtime(store.clone(), &World::new()).await;
        let client = runtime.client();
        let nobody = "nobody".parse().unwrap();
        let ended = client.start(several, "ended", 0).await.unwrap();
        soon(ended.result()).await.unwrap();
        let before = store.load(&ended.status().await.unwrap().run).unwrap();
        let errors = [
            client.pause(&nobody).await.unwrap_err(),
            client.resume(&nobody).await.unwrap_err(),
            ended.pause().await.unwrap_err(),
            ended.resume().await.unwrap_err(),
        ];
        let [not_there, _, over, _] = &errors;
        assert!(matches!(not_there, PauseError::NotFound { .. }));
        assert!(matches!(
            over,
            PauseError::Finished {
                status: Status::Completed,
                ..
            }
        ));
        assert_eq!((&errors[0], &errors[2]), (&errors[1], &errors[3]));
        insta::assert_snapshot!("refused", format!("{not_there}\n---\n{over}"));
        let after = store.load(&before.as_ref().map(|_| key("ended")).unwrap());
        assert_eq!(after.unwrap(), before);
    })
    .await;
}

#[tokio::test]
async fn what_stands_so_already_is_no_error() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let run = runtime.client().start(several, "twice", 1).await.unwrap();
        assert_eq!(run.resume().await.unwrap().since, None);
        let first = run.pause().await.unwrap();
        let second = run.pause().await.unwrap();
        assert_eq!((first.already, second.already), (false, true));
        assert_eq!(first.at, second.at);
        assert_eq!(run.resume().await.unwrap().since, Some(first.at));
        assert_eq!(run.resume().await.unwrap().since, None);
    })
    .await;
}

fn key(id: &str) -> perennial::RunKey {
    id.parse().unwrap()
}
