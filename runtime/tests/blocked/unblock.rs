//! Trying again on request (S16).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, RunError, RunState, UnblockError};

use super::meanwhile::{bad, leave_in_the_middle, naps, order, released};
use super::place::{Place, World, add, bytes, charge, check, code, loaded, program, until};

static BROKEN: AtomicBool = AtomicBool::new(false);
/// How often the code has come to the place that may panic.
static TRIES: AtomicU32 = AtomicU32::new(0);

/// Has an activity under way when it panics, and a timer.
#[workflow]
async fn faulty(cx: &Cx) -> Result<u64, Error> {
    let checking = async { check(cx).await.map_err(Error::from) };
    let adding = async {
        let sum = add(cx, 1, 2).await?;
        cx.sleep(millis(1)).await?;
        #[allow_nondeterminism(statics, reason = "what is configured outside the program")]
        {
            TRIES.fetch_add(1, Ordering::SeqCst);
            assert!(!BROKEN.load(Ordering::SeqCst), "the setting is wrong");
        }
        charge(cx, sum).await.map_err(Error::from)
    };
    let (checked, charged) = try_join!(checking, adding)?;
    Ok(checked + charged)
}

fn faulty_program(store: &Arc<dyn Store>, world: &Arc<World>) -> Builder {
    program(store, world, "the same").workflow(faulty)
}

#[tokio::test]
async fn s16_a_run_goes_on_once_its_cause_is_repaired_and_somebody_asks() {
    for place in Place::both() {
        let world = World::new();
        BROKEN.store(true, Ordering::SeqCst);
        let store = place.store();
        let runtime = faulty_program(&store, &world).start().await.unwrap();
        let client = runtime.client();
        let run = client.start(faulty, "run", ()).await.unwrap();
        // Who waits is answered when it is blocked.
        assert_eq!(code(run.result().await), "W101");
        let history = bytes(&*store, "run");

        // As it is, nothing comes of it; the attempt that is under way goes on.
        let tries = TRIES.load(Ordering::SeqCst);
        let Err(UnblockError::StillBlocked {
            unfit,
            code: still,
            text,
            ..
        }) = run.unblock().await
        else {
            panic!("it is still blocked")
        };
        assert_eq!((unfit, &still[..]), (false, "W101"));
        assert!(text.contains("the setting is wrong"), "{text}");
        assert_eq!(TRIES.load(Ordering::SeqCst), tries + 1);
        assert_eq!(bytes(&*store, "run"), history);
        assert_eq!(code(run.result().await), "W101");

        BROKEN.store(false, Ordering::SeqCst);
        let unblocked = client.unblock(&"run".parse().unwrap()).await.unwrap();
        assert_eq!(unblocked.run, super::place::key("run"));
        let errors: Vec<_> = unblocked
            .errors
            .iter()
            .map(|error| &error.code[..])
            .collect();
        assert_eq!(errors, ["W101"]);
        assert!(loaded(&*store, "run").blocked.is_empty());
        assert_eq!(run.status().await.unwrap().state, RunState::Running);
        world.gate.add_permits(2);
        assert_eq!(run.result().await.unwrap(), 10);
        assert_eq!(bytes(&*store, "run")[..history.len()], history[..]);
        // The first attempt was never lost, though the run was loaded anew.
        for (activity, times) in [("add", 1), ("charge", 1), ("check", 2)] {
            assert_eq!(world.executions(activity), times, "{activity}");
        }
    }
}

/// What came while it was blocked is in its queue, and comes from there.
#[tokio::test]
async fn s16_what_came_meanwhile_is_told_when_the_run_goes_on_in_the_same_process() {
    for place in Place::both() {
        let world = World::new();
        BROKEN.store(true, Ordering::SeqCst);
        let store = place.store();
        let runtime = faulty_program(&store, &world).start().await.unwrap();
        let run = runtime.client().start(faulty, "run", ()).await.unwrap();
        assert_eq!(code(run.result().await), "W101");
        world.gate.add_permits(2);
        until(|| loaded(&*store, "run").queue.len() == 1).await;
        BROKEN.store(false, Ordering::SeqCst);
        run.unblock().await.unwrap();
        assert_eq!(run.result().await.unwrap(), 10);
        assert_eq!(world.executions("check"), 2);
        assert!(loaded(&*store, "run").queue.is_empty());
    }
}

/// All who ask are answered, each by a try that began after they had asked.
#[tokio::test]
async fn s16_many_may_ask_at_once() {
    for place in Place::both() {
        let world = World::new();
        BROKEN.store(true, Ordering::SeqCst);
        let store = place.store();
        let runtime = faulty_program(&store, &world).start().await.unwrap();
        let run = runtime.client().start(faulty, "run", ()).await.unwrap();
        assert_eq!(code(run.result().await), "W101");
        let ask = || {
            let run = run.clone();
            tokio::spawn(async move { run.unblock().await })
        };
        let asking: Vec<_> = (0..20).map(|_| ask()).collect();
        for asked in asking {
            let answer = asked.await.unwrap();
            assert!(
                matches!(answer, Err(UnblockError::StillBlocked { .. })),
                "{answer:?}"
            );
        }
        BROKEN.store(false, Ordering::SeqCst);
        let asking: Vec<_> = (0..20).map(|_| ask()).collect();
        let mut went_on = 0;
        for asked in asking {
            match asked.await.unwrap() {
                Ok(_) => went_on += 1,
                Err(UnblockError::NotBlocked { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert!(went_on > 0);
        world.gate.add_permits(2);
        assert_eq!(run.result().await.unwrap(), 10);
    }
}

#[tokio::test]
async fn s16_a_program_that_does_not_fit_is_asked_in_vain_and_changes_nothing() {
    for place in Place::both() {
        let world = World::new();
        leave_in_the_middle(&place, &world, &["order-42"]).await;
        let history = place.look(|store| bytes(store, "order-42"));
        for start in 1..=2 {
            let store = place.store();
            let runtime = bad(&store, &world, "tuesday").start().await.unwrap();
            let run = runtime.client().run(order, "order-42").unwrap();
            assert_eq!(code(run.result().await), "H202");
            // In the second process it is not in memory.
            for _ in 0..2 {
                let Err(UnblockError::StillBlocked { unfit, code, .. }) = run.unblock().await
                else {
                    panic!("it is still blocked, in process {start}")
                };
                assert_eq!((unfit, &code[..]), (true, "H202"));
            }
            assert_eq!(code(run.result().await), "H202");
            assert_eq!(loaded(&*store, "order-42").blocked.len(), 1);
            assert_eq!(bytes(&*store, "order-42"), history);
        }
        let store = place.store();
        let runtime = released(&store, &world).start().await.unwrap();
        world.gate.add_permits(2);
        let run = runtime.client().run(order, "order-42").unwrap();
        assert_eq!(run.result().await.unwrap(), 22);
    }
}

#[tokio::test]
async fn a_run_that_is_not_blocked_is_not_tried() {
    for place in Place::both() {
        let world = World::new();
        let store = place.store();
        let runtime = released(&store, &world).start().await.unwrap();
        let client = runtime.client();
        let told = |error: UnblockError| error.to_string();
        let mut texts = vec![told(
            client
                .unblock(&"nobody".parse().unwrap())
                .await
                .unwrap_err(),
        )];
        let run = client.start(naps, "waits", 86_400_000).await.unwrap();
        texts.push(told(run.unblock().await.unwrap_err()));
        let run = client.start(naps, "ends", 1).await.unwrap();
        run.result().await.unwrap();
        texts.push(told(run.unblock().await.unwrap_err()));
        insta::assert_snapshot!("not_tried", texts.join("\n---\n"));

        let _drained = runtime.drain(std::time::Duration::from_secs(60)).await;
        assert!(matches!(
            run.unblock().await,
            Err(UnblockError::Unavailable(_))
        ));
        assert!(matches!(run.result().await, Err(RunError::Unavailable(_))));
    }
}
