//! Runs that are blocked and paused (S16).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use perennial::prelude::*;
use perennial_runtime::{RunError, RunState, UnblockError};

use crate::support::each_store;
use crate::world::*;

/// The tests share what is below, so one goes after the other.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
static BROKEN: AtomicBool = AtomicBool::new(true);
static TRIES: AtomicU32 = AtomicU32::new(0);

#[workflow]
async fn faulty(cx: &Cx) -> Result<u64, Error> {
    let got = cx.receive(A).await?;
    #[allow_nondeterminism(statics, reason = "what is configured outside the program")]
    {
        TRIES.fetch_add(1, Ordering::SeqCst);
        assert!(!BROKEN.load(Ordering::SeqCst), "the setting is wrong");
    }
    Ok(got)
}

#[tokio::test]
async fn a_blocked_run_can_be_paused_and_is_tried_when_somebody_asks_after_it_goes_on() {
    let _alone = ALONE.lock().await;
    each_store(async |store| {
        BROKEN.store(true, Ordering::SeqCst);
        let builder = builder(store, &World::new()).workflow(faulty);
        let runtime = builder.start().await.unwrap();
        let run = runtime.client().start(faulty, "faulty", ()).await.unwrap();
        run.send(A, &7).await.unwrap();
        let blocked = soon(run.result()).await;
        assert!(matches!(blocked, Err(RunError::Blocked { .. })));
        let since = run.pause().await.unwrap().at;
        let info = run.status().await.unwrap();
        assert!(matches!(info.state, RunState::Blocked { .. }));
        assert_eq!(info.paused, Some(since));

        BROKEN.store(false, Ordering::SeqCst);
        let tries = TRIES.load(Ordering::SeqCst);
        let error = run.unblock().await.unwrap_err();
        assert!(matches!(&error, UnblockError::Paused { since: at, .. } if *at == since));
        assert!(error.to_string().contains("client.resume(..)"), "{error}");
        assert_eq!(TRIES.load(Ordering::SeqCst), tries);

        run.resume().await.unwrap();
        run.unblock().await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), 7);
    })
    .await;
}

#[tokio::test]
async fn a_blocked_run_that_is_paused_is_tried_by_the_next_program_when_it_goes_on() {
    let _alone = ALONE.lock().await;
    crate::support::each_place(async |place| {
        BROKEN.store(true, Ordering::SeqCst);
        let start = async || {
            let builder = builder(place.open(), &World::new()).workflow(faulty);
            builder.start().await.unwrap()
        };
        let first = start().await;
        let run = first.client().start(faulty, "faulty", ()).await.unwrap();
        run.send(A, &7).await.unwrap();
        assert!(soon(run.result()).await.is_err());
        run.pause().await.unwrap();
        drop(first);
        drop(run);

        BROKEN.store(false, Ordering::SeqCst);
        let tries = TRIES.load(Ordering::SeqCst);
        let second = start().await;
        let run = second.client().run(faulty, "faulty").unwrap();
        events(&run).await;
        assert_eq!(TRIES.load(Ordering::SeqCst), tries, "it is not tried");
        run.resume().await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), 7);
        drop(second);
    })
    .await;
}
