//! What a program finds when it is started again: runs that go on, runs that it cannot go on with.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use perennial::prelude::*;
use perennial_runtime::store::{AttemptOutcome, Durability};
use perennial_runtime::{Builder, RunError, RunState, Runtime, StartError, Unavailable};
use tokio::sync::Semaphore;

/// What the activities touch, and how the test steers them.
struct World {
    added: AtomicU32,
    /// `gated` takes a permit for each execution.
    gate: Semaphore,
    gated: AtomicU32,
    /// Is told of each execution of `gated`.
    began: Semaphore,
}

impl Default for World {
    fn default() -> Self {
        Self {
            added: AtomicU32::new(0),
            gate: Semaphore::new(0),
            gated: AtomicU32::new(0),
            began: Semaphore::new(0),
        }
    }
}

#[activity(pure)]
async fn add(acx: &ActivityCx, a: u64, b: u64) -> Result<u64, Failure> {
    acx.state::<Arc<World>>()
        .added
        .fetch_add(1, Ordering::SeqCst);
    Ok(a + b)
}

#[activity(idempotent)]
async fn gated(acx: &ActivityCx) -> Result<u32, Failure> {
    let world = acx.state::<Arc<World>>();
    world.gated.fetch_add(1, Ordering::SeqCst);
    world.began.add_permits(1);
    world.gate.acquire().await?.forget();
    Ok(acx.attempt())
}

#[activity(idempotent, retry(attempts = 1))]
async fn gated_once(acx: &ActivityCx) -> Result<u32, Failure> {
    let world = acx.state::<Arc<World>>();
    world.began.add_permits(1);
    world.gate.acquire().await?.forget();
    Ok(acx.attempt())
}

#[workflow]
async fn waits(cx: &Cx) -> Result<u32, Error> {
    let before = add(cx, 1, 2).await?;
    assert_eq!(before, 3);
    Ok(gated(cx).await?)
}

#[workflow]
async fn waits_once(cx: &Cx) -> Result<u32, Error> {
    Ok(gated_once(cx).await?)
}

#[workflow]
async fn naps(cx: &Cx, milliseconds: u64) -> Result<u64, Error> {
    let sum = add(cx, 1, 2).await?;
    cx.sleep(millis(milliseconds)).await?;
    Ok(add(cx, sum, 4).await?)
}

/// The next version of `waits`, which does not fit.
mod next {
    use super::*;

    #[workflow(name = "waits")]
    pub(crate) async fn changed(cx: &Cx) -> Result<u32, Error> {
        add(cx, 5, 5).await?;
        Ok(gated(cx).await?)
    }
}

static FAULTY: AtomicBool = AtomicBool::new(false);

#[workflow]
async fn faulty(cx: &Cx) -> Result<u32, Error> {
    let attempt = gated(cx).await?;
    #[allow_nondeterminism(
        statics,
        reason = "what a program that is repaired and started again looks like"
    )]
    assert!(!FAULTY.load(Ordering::SeqCst), "a fault of the code");
    Ok(attempt)
}

fn program(folder: &Path, world: &Arc<World>, artifact: &str) -> Builder {
    Runtime::builder(folder)
        .durability(Durability::Os)
        .activities((add, gated, gated_once))
        .state(Arc::clone(world))
        .artifact(artifact)
}

async fn first(folder: &Path, world: &Arc<World>) -> Runtime {
    let program = program(folder, world, "first")
        .workflow(waits)
        .workflow(waits_once)
        .workflow(naps)
        .workflow(faulty);
    program.start().await.unwrap()
}

#[tokio::test]
async fn o09_a_lost_attempt_runs_again_and_what_was_recorded_does_not() {
    let (folder, world) = (tempfile::tempdir().unwrap(), Arc::new(World::default()));
    let runtime = first(folder.path(), &world).await;
    runtime.client().start(waits, "lost", ()).await.unwrap();
    world.began.acquire().await.unwrap().forget();
    drop(runtime);

    let runtime = first(folder.path(), &world).await;
    world.began.acquire().await.unwrap().forget();
    world.gate.add_permits(2);
    let run = runtime.client().run(waits, "lost").unwrap();
    assert_eq!(run.result().await.unwrap(), 2, "the second attempt");
    assert_eq!(world.added.load(Ordering::SeqCst), 1);
    assert_eq!(world.gated.load(Ordering::SeqCst), 2);
    let history = run.history().await.unwrap();
    assert_eq!(history.attempts.len(), 1);
    assert_eq!(history.attempts[0].outcome, AttemptOutcome::Lost);
}

#[tokio::test]
async fn o08_the_end_of_a_process_is_no_failure_of_the_attempt() {
    let (folder, world) = (tempfile::tempdir().unwrap(), Arc::new(World::default()));
    for _ in 0..3 {
        let runtime = first(folder.path(), &world).await;
        runtime
            .client()
            .start(waits_once, "once", ())
            .await
            .unwrap();
        world.began.acquire().await.unwrap().forget();
        drop(runtime);
    }
    let runtime = first(folder.path(), &world).await;
    world.gate.add_permits(1);
    let attempt = runtime
        .client()
        .run(waits_once, "once")
        .unwrap()
        .result()
        .await
        .unwrap();
    assert_eq!(attempt, 4, "its budget of one failure is not touched");
}

#[tokio::test]
async fn a_drain_waits_for_what_is_under_way_and_records_what_it_brought() {
    let (folder, world) = (tempfile::tempdir().unwrap(), Arc::new(World::default()));
    let runtime = first(folder.path(), &world).await;
    let client = runtime.client();
    client.start(waits, "drained", ()).await.unwrap();
    world.began.acquire().await.unwrap().forget();
    // The attempt may end only once the drain has begun.
    let (drained, ()) = tokio::join!(runtime.drain(Duration::from_secs(60)), async {
        let refused = client.start(waits, "too-late", ()).await.unwrap_err();
        assert!(matches!(
            refused,
            StartError::Unavailable(Unavailable::Draining)
        ));
        world.gate.add_permits(1);
    });
    assert_eq!(drained.unfinished, 0);

    let runtime = first(folder.path(), &world).await;
    let run = runtime.client().run(waits, "drained").unwrap();
    assert_eq!(run.result().await.unwrap(), 1, "the first attempt");
    assert_eq!(world.gated.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_drain_that_may_not_wait_says_what_it_left() {
    let (folder, world) = (tempfile::tempdir().unwrap(), Arc::new(World::default()));
    let runtime = first(folder.path(), &world).await;
    runtime.client().start(waits, "left", ()).await.unwrap();
    world.began.acquire().await.unwrap().forget();
    assert_eq!(runtime.drain(Duration::from_millis(1)).await.unfinished, 1);

    let runtime = first(folder.path(), &world).await;
    world.gate.add_permits(1);
    let run = runtime.client().run(waits, "left").unwrap();
    assert_eq!(run.result().await.unwrap(), 2, "it ran again");
}

#[tokio::test]
async fn s07_a_timer_fires_once_after_a_restart() {
    let (folder, world) = (tempfile::tempdir().unwrap(), Arc::new(World::default()));
    let runtime = first(folder.path(), &world).await;
    let client = runtime.client();
    client.start(naps, "due-while-stopped", 20).await.unwrap();
    client.start(naps, "due-later", 60).await.unwrap();
    let _ = runtime.drain(Duration::from_secs(10)).await;

    let runtime = first(folder.path(), &world).await;
    for id in ["due-while-stopped", "due-later"] {
        let run = runtime.client().run(naps, id).unwrap();
        assert_eq!(run.result().await.unwrap(), 7);
        let text = run.history().await.unwrap().history.text();
        assert_eq!(text.matches("fired").count(), 1, "{text}");
    }
    assert_eq!(world.added.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn o51_a_run_that_does_not_fit_is_blocked_and_goes_on_with_code_that_does() {
    let (folder, world) = (tempfile::tempdir().unwrap(), Arc::new(World::default()));
    let runtime = first(folder.path(), &world).await;
    let run = runtime.client().start(waits, "blocked", ()).await.unwrap();
    world.began.acquire().await.unwrap().forget();
    drop(runtime);

    let runtime = program(folder.path(), &world, "second")
        .workflow(next::changed)
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    // The attempt goes on by its contract; what it brings is kept (S16).
    world.began.acquire().await.unwrap().forget();
    world.gate.add_permits(1);
    let same = client.run(next::changed, "blocked").unwrap();
    let Err(RunError::Blocked { code, text, .. }) = same.result().await else {
        panic!("it is blocked")
    };
    assert_eq!(code, "H202");
    insta::assert_snapshot!("blocked", text);
    let RunState::Blocked { errors } = same.status().await.unwrap().state else {
        panic!("it is blocked")
    };
    assert!(errors[0].unfit && errors[0].artifact == "second");
    let history = same.history().await.unwrap().history.text();
    insta::assert_snapshot!("history_of_a_blocked_run", history);
    let listed = client.list().blocked(true).page().await.unwrap();
    assert_eq!(listed.runs.len(), 1);
    drop(runtime);
    let executions = world.gated.load(Ordering::SeqCst);

    // A program that does not fit does not even try again.
    let runtime = program(folder.path(), &world, "second")
        .workflow(next::changed)
        .start()
        .await
        .unwrap();
    let again = runtime
        .client()
        .run(next::changed, "blocked")
        .unwrap()
        .result()
        .await;
    assert!(matches!(again, Err(RunError::Blocked { .. })));
    drop(runtime);

    let runtime = first(folder.path(), &world).await;
    let run_again = runtime.client().run(waits, run.id().as_str()).unwrap();
    assert_eq!(run_again.result().await.unwrap(), 2);
    assert_eq!(run_again.status().await.unwrap().state, RunState::Completed);
    assert_eq!(
        world.gated.load(Ordering::SeqCst),
        executions,
        "what came while it was blocked was kept"
    );
    assert_eq!(world.added.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn s14_a_run_whose_code_panicked_is_tried_again_by_the_next_process() {
    let (folder, world) = (tempfile::tempdir().unwrap(), Arc::new(World::default()));
    FAULTY.store(true, Ordering::SeqCst);
    let runtime = first(folder.path(), &world).await;
    let run = runtime.client().start(faulty, "panics", ()).await.unwrap();
    world.gate.add_permits(1);
    let Err(RunError::Blocked { code, text, .. }) = run.result().await else {
        panic!("it is blocked")
    };
    assert_eq!(code, "W101");
    insta::assert_snapshot!("panicked", text);
    drop(runtime);

    FAULTY.store(false, Ordering::SeqCst);
    let runtime = first(folder.path(), &world).await;
    let run = runtime.client().run(faulty, "panics").unwrap();
    assert_eq!(run.result().await.unwrap(), 1);
    assert_eq!(run.status().await.unwrap().state, RunState::Completed);
    assert_eq!(world.gated.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn s17_a_program_that_lacks_the_workflow_or_an_activity_says_so() {
    let (folder, world) = (tempfile::tempdir().unwrap(), Arc::new(World::default()));
    let runtime = first(folder.path(), &world).await;
    runtime.client().start(waits, "unknown", ()).await.unwrap();
    world.began.acquire().await.unwrap().forget();
    drop(runtime);

    let runtime = program(folder.path(), &world, "without")
        .workflow(naps)
        .start()
        .await
        .unwrap();
    world.began.acquire().await.unwrap().forget();
    world.gate.add_permits(1);
    let Err(RunError::Blocked { code, text, .. }) = runtime
        .client()
        .run(waits, "unknown")
        .unwrap()
        .result()
        .await
    else {
        panic!("it is blocked")
    };
    assert_eq!(code, "H209");
    insta::assert_snapshot!("workflow_not_registered", text);
    drop(runtime);

    let runtime = first(folder.path(), &world).await;
    assert_eq!(
        runtime
            .client()
            .run(waits, "unknown")
            .unwrap()
            .result()
            .await
            .unwrap(),
        2
    );
}

#[tokio::test]
async fn parked_runs_that_were_evicted_go_on_when_they_are_woken() {
    let (folder, world) = (tempfile::tempdir().unwrap(), Arc::new(World::default()));
    let builder = program(folder.path(), &world, "first")
        .workflow(naps)
        .shards(1)
        .warm_memory(0);
    let runtime = builder.start().await.unwrap();
    let client = runtime.client();
    let mut runs = Vec::new();
    for n in 0..60 {
        runs.push(client.start(naps, format!("parked-{n}"), 50).await.unwrap());
    }
    for run in runs {
        assert_eq!(run.result().await.unwrap(), 7);
    }
    assert_eq!(
        world.added.load(Ordering::SeqCst),
        120,
        "a replay does nothing again"
    );
}
