//! What can be forked, whatever it is at.

use std::sync::atomic::{AtomicBool, Ordering};

use perennial::prelude::*;
use perennial_runtime::store::Status;
use perennial_runtime::{ForkError, RunError, RunState};

use crate::support::{each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn a_run_that_has_ended_is_forked_from_before_its_end() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let old = charged(&runtime, "old", &[1]).await;
        old.send(A, &0).await.unwrap();
        assert_eq!(soon(old.result()).await.unwrap(), 1);
        let info = old.status().await.unwrap();
        assert_eq!((&info.state, info.events), (&RunState::Completed, 11));
        for event in 9..=11 {
            let error = old.fork(event, "fork").await.unwrap_err();
            let ForkError::AtEnd { last: 8, .. } = error else {
                panic!("{error}")
            };
        }
        let fork = old.fork(8, "fork").await.unwrap();
        fork.send(A, &41).await.unwrap();
        fork.send(A, &0).await.unwrap();
        assert_eq!(soon(fork.result()).await.unwrap(), 42);
        assert_eq!(world.runs(), ["old", "fork"]);
    })
    .await;
}

#[tokio::test]
async fn a_fork_of_a_paused_run_is_not_paused() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let old = charged(&runtime, "old", &[1]).await;
        old.pause().await.unwrap();
        old.send(A, &5).await.unwrap();
        let fork = old.fork(8, "fork").await.unwrap();
        assert_eq!(fork.status().await.unwrap().paused, None);
        fork.send(A, &0).await.unwrap();
        assert_eq!(soon(fork.result()).await.unwrap(), 1);
        assert!(old.status().await.unwrap().paused.is_some());
    })
    .await;
}

static BROKEN: AtomicBool = AtomicBool::new(true);

#[workflow]
async fn faulty(cx: &Cx) -> Result<u64, Error> {
    let mut sum = 0;
    loop {
        let got = cx.receive(A).await?;
        if got == 0 {
            return Ok(sum);
        }
        #[allow_nondeterminism(statics, reason = "what is configured outside the program")]
        {
            assert!(
                got != 13 || !BROKEN.load(Ordering::SeqCst),
                "the setting is wrong"
            );
        }
        sum += got;
    }
}

#[tokio::test]
async fn a_blocked_run_is_forked_from_before_what_blocks_it() {
    each_store(async |store| {
        BROKEN.store(true, Ordering::SeqCst);
        let builder = builder(store, &World::new()).workflow(faulty);
        let runtime = builder.start().await.unwrap();
        let old = runtime.client().start(faulty, "old", ()).await.unwrap();
        old.send(A, &2).await.unwrap();
        old.send(A, &13).await.unwrap();
        assert!(matches!(
            soon(old.result()).await,
            Err(RunError::Blocked { .. })
        ));
        let events = old.status().await.unwrap().events;
        let fork = old.fork(events, "fork").await.unwrap();
        fork.send(A, &1).await.unwrap();
        fork.send(A, &0).await.unwrap();
        assert_eq!(soon(fork.result()).await.unwrap(), 3);
        let state = old.status().await.unwrap().state;
        assert!(matches!(state, RunState::Blocked { .. }));
    })
    .await;
}

#[workflow]
async fn before(cx: &Cx) -> Result<u64, Error> {
    let cents = cx.receive(A).await?;
    Ok(charge(cx, cents).await? + cx.receive(A).await?)
}

mod changed {
    use super::*;

    /// Charges twice as much.
    #[workflow(name = "before")]
    pub(super) async fn before(cx: &Cx) -> Result<u64, Error> {
        let cents = cx.receive(A).await?;
        Ok(charge(cx, 2 * cents).await? + cx.receive(A).await?)
    }
}

#[tokio::test]
async fn h202_what_does_not_fit_the_code_that_runs_now_is_told_exactly_and_nothing_is_made() {
    each_place(async |place| {
        let world = World::new();
        let first = builder(place.open(), &world).workflow(before);
        let first = first.start().await.unwrap();
        let old = first.client().start(before, "old", ()).await.unwrap();
        old.send(A, &1).await.unwrap();
        has_events(&old, 7).await;
        drop(old);
        drop(first);

        let store = place.open();
        let second = builder(store.clone(), &world).workflow(changed::before);
        let second = second.artifact("changed").start().await.unwrap();
        let old = second.client().run(changed::before, "old").unwrap();
        let error = old.fork(7, "fork").await.unwrap_err();
        let ForkError::Blocked { error: why, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(why.code(), "H202");
        assert!(error.to_string().contains("event 5"), "{error}");
        assert_eq!(store.head(&key("fork")).unwrap(), None);
        // Before the difference it fits, and goes on with the new code.
        let fork = old.fork(2, "fork").await.unwrap();
        fork.send(A, &1).await.unwrap();
        fork.send(A, &0).await.unwrap();
        assert_eq!(soon(fork.result()).await.unwrap(), 2);
        assert_eq!(
            store.head(&key("fork")).unwrap().unwrap().status,
            Status::Completed
        );
        drop(second);
    })
    .await;
}

#[tokio::test]
async fn a_run_that_has_begun_anew_is_forked_from_its_last_generation() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let client = runtime.client();
        let old = charged(&runtime, "old", &[1]).await;
        old.send(A, &0).await.unwrap();
        soon(old.result()).await.unwrap();
        let start = client
            .start(adds, "old", ())
            .reuse(perennial_runtime::Reuse::AfterFinish);
        let old = start.await.unwrap();
        old.send(A, &5).await.unwrap();
        has_events(&old, 8).await;
        let fork = old.fork(8, "fork").await.unwrap();
        fork.send(A, &1).await.unwrap();
        has_events(&fork, 14).await;
        // Its streams go on from those of the generations before.
        let mut items = fork.stream(OUTPUT);
        for (number, value) in [(2, 5), (3, 6)] {
            let item = soon(items.next()).await.unwrap().unwrap();
            assert_eq!((item.number, item.value), (number, value));
        }
        fork.send(A, &0).await.unwrap();
        assert_eq!(soon(fork.result()).await.unwrap(), 6);
    })
    .await;
}
