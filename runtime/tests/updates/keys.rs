//! Idempotency keys of updates (S26, S27).

use std::time::Duration;

use perennial::Timestamp;
use perennial_runtime::UpdateError;

use crate::support::{Place, each_place, each_store};
use crate::world::*;

async fn ask(
    run: &perennial_runtime::RunHandle<budget>,
    limit: u64,
    key: &str,
) -> Result<u64, UpdateError<String>> {
    soon(
        run.update(SET_LIMIT, &limit)
            .idempotency_key(key)
            .into_future(),
    )
    .await
}

#[tokio::test]
async fn s27_an_update_that_was_accepted_has_its_first_answer_also_after_a_restart_and_the_end() {
    each_place(async |place: Place| {
        {
            let runtime = runtime(place.open()).await;
            let run = runtime.client().start(budget, "again", 100).await.unwrap();
            assert_eq!(ask(&run, 200, "a").await, Ok(100));
            assert_eq!(ask(&run, 200, "a").await, Ok(100));
            assert_eq!(ask(&run, 300, "b").await, Ok(200));
            assert_eq!(ask(&run, 200, "a").await, Ok(100));
            assert_eq!(
                told(&runtime.client(), "again").await,
                ["set-limit 200", "set-limit 300"]
            );
        }
        let runtime = cold(place.open()).await;
        let run = runtime.client().run(budget, "again").unwrap();
        assert_eq!(ask(&run, 300, "b").await, Ok(200));
        assert_eq!(ask(&run, 500, "c").await, Ok(300));
        soon(run.result()).await.unwrap();
        assert_eq!(ask(&run, 500, "c").await, Ok(300));
        assert_eq!(ask(&run, 200, "a").await, Ok(100));
        let late = ask(&run, 600, "d").await;
        assert!(
            matches!(late, Err(UpdateError::RunFinished { .. })),
            "{late:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn s26_a_key_stands_for_one_update_and_not_for_a_message() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(budget, "kinds", 100).await.unwrap();
        assert_eq!(ask(&run, 200, "k").await, Ok(100));
        let other = ask(&run, 300, "k").await;
        assert!(
            matches!(&other, Err(UpdateError::IdempotencyConflict { key, name, .. }) if key == "k" && name == "set-limit"),
            "{other:?}"
        );
        // What was refused is not known: it is asked for anew.
        let refused = ask(&run, 5, "r").await;
        assert!(matches!(refused, Err(UpdateError::Refused(_))), "{refused:?}");
        assert_eq!(ask(&run, 400, "r").await, Ok(200));
        let plain = runtime.client().start(late, "mail", ()).await.unwrap();
        let receipt = plain.send(GO, &7).idempotency_key("k").await.unwrap();
        assert!(!receipt.duplicate);
        let update = plain.update(SET_LIMIT, &70).idempotency_key("k");
        assert_eq!(soon(update.into_future()).await, Ok(7));
        assert!(plain.send(GO, &7).idempotency_key("k").await.unwrap().duplicate);
        let update = plain.update(SET_LIMIT, &70).idempotency_key("k");
        assert_eq!(soon(update.into_future()).await, Ok(7));
    })
    .await;
}

#[tokio::test]
async fn s26_a_key_that_is_too_old_or_none_is_refused() {
    each_store(async |store| {
        let runtime = runtime(store).await;
        let run = runtime.client().start(budget, "old", 100).await.unwrap();
        let month =
            Timestamp::from(std::time::SystemTime::now() - Duration::from_secs(31 * 24 * 3_600));
        let update = run.update(SET_LIMIT, &200).idempotency_key_from("k", month);
        let old = soon(update.into_future()).await;
        assert!(matches!(old, Err(UpdateError::KeyTooOld { .. })), "{old:?}");
        for key in ["", &"k".repeat(257)] {
            let wrong = ask(&run, 200, key).await;
            assert!(
                matches!(wrong, Err(UpdateError::InvalidKey { .. })),
                "{wrong:?}"
            );
        }
        assert_eq!(told(&runtime.client(), "old").await, [""; 0]);
    })
    .await;
}
