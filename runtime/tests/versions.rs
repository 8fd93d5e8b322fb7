//! Programs that change while their runs are in flight: RW-01, RW-05.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::{Arc, Mutex};

use perennial::prelude::*;
use perennial_runtime::store::Durability;
use perennial_runtime::{Builder, RunError, RunHandle, Runtime};
use support::clock::Set;
use support::held::{HeldStore, Shared};
use tokio::sync::Semaphore;

/// Where one program after the other finds the same runs.
enum Place {
    Memory(Arc<HeldStore>),
    Folder(tempfile::TempDir),
}

async fn each_place(test: impl AsyncFn(Place)) {
    test(Place::Memory(HeldStore::new())).await;
    test(Place::Folder(tempfile::tempdir().unwrap())).await;
}

/// What the activities touch, and how the test steers them.
struct World {
    /// Each activity takes a permit.
    gate: Semaphore,
    /// Is told of each execution.
    began: Semaphore,
    /// The ids that were audited.
    audited: Mutex<Vec<String>>,
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            gate: Semaphore::new(0),
            began: Semaphore::new(0),
            audited: Mutex::new(Vec::new()),
        })
    }

    async fn pass(&self) -> Result<(), Failure> {
        self.began.add_permits(1);
        self.gate.acquire().await?.forget();
        Ok(())
    }

    /// Until so many executions have begun since this was asked last.
    async fn begun(&self, count: u32) {
        self.began.acquire_many(count).await.unwrap().forget();
    }
}

/// In the place of a child until there are children.
#[activity(idempotent)]
async fn audit(acx: &ActivityCx, id: String) -> Result<String, Failure> {
    let world = acx.state::<Arc<World>>();
    world.audited.lock().unwrap().push(id.clone());
    world.pass().await?;
    Ok(id)
}

#[activity(idempotent)]
async fn a(acx: &ActivityCx) -> Result<String, Failure> {
    acx.state::<Arc<World>>().pass().await?;
    Ok("a".into())
}

#[activity(idempotent)]
async fn b(acx: &ActivityCx) -> Result<String, Failure> {
    acx.state::<Arc<World>>().pass().await?;
    Ok("b".into())
}

/// How many iterations a run of `ticks` has.
const TICKS: usize = 8;

mod v1 {
    use super::{TICKS, a, audit};
    use perennial::prelude::*;

    #[workflow(version = 1)]
    pub(super) async fn order(cx: &Cx) -> Result<Vec<String>, Error> {
        cx.sleep(hours(1)).await?;
        let id = cx.uuid().to_string();
        let first = audit(cx, id.clone()).await?;
        let second = audit(cx, id).await?;
        Ok(vec![first, second])
    }

    #[workflow(version = 1)]
    pub(super) async fn ticks(cx: &Cx) -> Result<String, Error> {
        let mut done = String::new();
        for _ in 0..TICKS {
            cx.sleep(millis(0)).await?;
            done += &a(cx).await?;
        }
        Ok(done)
    }
}

mod v2 {
    use super::{TICKS, a, audit, b};
    use perennial::prelude::*;

    #[workflow(version = 2)]
    pub(super) async fn order(cx: &Cx) -> Result<Vec<String>, Error> {
        // The line that was added.
        let _jitter = cx.random_range(0..10);
        cx.sleep(hours(1)).await?;
        let id = cx.uuid().to_string();
        let first = audit(cx, id.clone()).await?;
        let second = audit(cx, id).await?;
        Ok(vec![first, second])
    }

    #[workflow(version = 2)]
    pub(super) async fn ticks(cx: &Cx) -> Result<String, Error> {
        let mut done = String::new();
        for _ in 0..TICKS {
            cx.sleep(millis(0)).await?;
            done += &if cx.patched_each("b-not-a") {
                b(cx).await?
            } else {
                a(cx).await?
            };
        }
        Ok(done)
    }
}

/// Takes the old branch out while there are runs that need it.
mod v3 {
    use super::{TICKS, b};
    use perennial::prelude::*;

    #[workflow(version = 3)]
    pub(super) async fn ticks(cx: &Cx) -> Result<String, Error> {
        let mut done = String::new();
        for _ in 0..TICKS {
            cx.sleep(millis(0)).await?;
            done += &match cx.version_each("b-not-a", 1..=1) {
                1 => b(cx).await?,
            };
        }
        Ok(done)
    }
}

fn program(place: &Place, world: &Arc<World>, artifact: &str) -> Builder {
    let builder = match place {
        Place::Memory(store) => Runtime::builder(Shared(Arc::clone(store))),
        Place::Folder(folder) => Runtime::builder(folder.path()).durability(Durability::Os),
    };
    builder
        .activities((audit, a, b))
        .state(Arc::clone(world))
        .artifact(artifact)
}

async fn blocked<W: perennial::Workflow>(run: &RunHandle<W>) -> (String, String)
where
    <W::Output as perennial::WorkflowResult>::Value: std::fmt::Debug,
    <W::Output as perennial::WorkflowResult>::Error: std::fmt::Debug,
{
    match run.result().await {
        Err(RunError::Blocked { code, text, .. }) => (code, text),
        other => panic!("it is not blocked: {other:?}"),
    }
}

#[tokio::test]
async fn rw01_an_added_draw_is_named_and_the_old_code_finishes_with_the_original_id() {
    each_place(async |place| {
        let (world, clock) = (World::new(), Set::new());
        let start = async |builder: Builder| builder.clock(clock.clone()).start().await.unwrap();
        let runtime = start(program(&place, &world, "v1").workflow(v1::order)).await;
        let client = runtime.client();
        client.start(v1::order, "asleep", ()).await.unwrap();
        client.start(v1::order, "audited", ()).await.unwrap();
        drop(runtime);

        // The new code wakes them.
        clock.at(3_600);
        let runtime = start(program(&place, &world, "v2").workflow(v2::order)).await;
        let run = runtime.client().run(v2::order, "asleep").unwrap();
        let (code, text) = blocked(&run).await;
        assert_eq!(code, "H203");
        assert!(text.contains("event 2"), "{text}");
        assert!(text.contains("recorded    sleep ~1"), "{text}");
        // Named with its place, and not what comes after it.
        let asked = text.lines().find(|line| line.contains("this code   "));
        let asked = asked.unwrap();
        assert!(asked.contains("random draw"), "{text}");
        assert!(asked.contains("tests/versions.rs"), "{text}");
        drop(runtime);

        // The old code goes on, and has drawn its ids when it is stopped again.
        let runtime = start(program(&place, &world, "v1").workflow(v1::order)).await;
        world.begun(2).await;
        world.gate.add_permits(2);
        world.begun(2).await;
        drop(runtime);

        // The draw that was added is named, and not the ids after it.
        let runtime = start(program(&place, &world, "v2, built again").workflow(v2::order)).await;
        world.gate.add_permits(2);
        let run = runtime.client().run(v2::order, "audited").unwrap();
        let (_, text) = blocked(&run).await;
        assert!(
            text.contains("event 2") && text.contains("random draw"),
            "{text}"
        );
        drop(runtime);

        let runtime = start(program(&place, &world, "v1").workflow(v1::order)).await;
        world.gate.add_permits(8);
        for id in ["asleep", "audited"] {
            let run = runtime.client().run(v1::order, id).unwrap();
            let ids = run.result().await.unwrap();
            assert_eq!(ids[0], ids[1]);
            let history = run.history().await.unwrap().history.text();
            assert_eq!(history.matches("uuid").count(), 1, "{history}");
        }
        // Executed again by each process, always with the two ids that were drawn first.
        let mut audited = world.audited.lock().unwrap().clone();
        audited.sort_unstable();
        audited.dedup();
        assert_eq!(audited.len(), 2);
    })
    .await;
}

/// S16: the name was forgotten when the program was changed.
#[tokio::test]
async fn s16_of_one_name_another_build_is_another_program_and_the_first_one_goes_on_after_a_roll_back()
 {
    each_place(async |place| {
        let (world, clock) = (World::new(), Set::new());
        let start = async |builder: Builder, build: &str| {
            let builder = builder.clock(clock.clone()).build_of(build);
            builder.start().await.unwrap()
        };
        let first = || program(&place, &world, "shop").workflow(v1::order);
        let changed = || program(&place, &world, "shop").workflow(v2::order);
        let runtime = start(first(), "1111").await;
        let client = runtime.client();
        client.start(v1::order, "order-1", ()).await.unwrap();
        drop(runtime);

        // Twice, since it is to know itself again.
        clock.at(3_600);
        for _ in 0..2 {
            let runtime = start(changed(), "2222").await;
            let run = runtime.client().run(v2::order, "order-1").unwrap();
            let (code, text) = blocked(&run).await;
            assert_eq!(code, "H203");
            assert!(text.contains("artifact shop (build 2222)"), "{text}");
            assert!(text.contains("start artifact shop again"), "{text}");
            drop(runtime);
        }

        let runtime = start(first(), "1111").await;
        world.gate.add_permits(2);
        let run = runtime.client().run(v1::order, "order-1").unwrap();
        let ids = run.result().await.unwrap();
        assert_eq!(ids[0], ids[1]);
        assert_eq!(world.audited.lock().unwrap().len(), 2);
        let programs = runtime.client().programs().await.unwrap();
        let mut names: Vec<_> = programs.iter().map(|program| &*program.artifact).collect();
        names.sort_unstable();
        assert_eq!(names, ["shop", "shop (build 2222)"]);
    })
    .await;
}

#[tokio::test]
async fn rw05_a_run_in_flight_takes_the_new_branch_from_its_next_iteration_on() {
    each_place(async |place| {
        let world = World::new();
        let first = async || {
            let program = program(&place, &world, "v1").workflow(v1::ticks);
            program.start().await.unwrap()
        };
        let second = async || {
            let program = program(&place, &world, "v2").workflow(v2::ticks);
            program.start().await.unwrap()
        };
        let runtime = first().await;
        let client = runtime.client();
        client.start(v1::ticks, "endless", ()).await.unwrap();
        world.gate.add_permits(5);
        world.begun(6).await;
        drop(runtime);

        // Without the old branch: the marker, what is recorded and what is supported.
        let third = program(&place, &world, "v3").workflow(v3::ticks);
        let runtime = third.start().await.unwrap();
        // A run is looked at when something comes for it: what its sixth iteration waits for.
        world.gate.add_permits(1);
        let run = runtime.client().run(v3::ticks, "endless").unwrap();
        let (code, text) = blocked(&run).await;
        assert_eq!(code, "H207");
        assert!(text.contains("\"b-not-a\""), "{text}");
        assert!(
            text.contains("version 0") && text.contains("1..=1"),
            "{text}"
        );
        drop(runtime);

        // The sixth iteration has begun with the old branch, and ends with it.
        let runtime = second().await;
        let run = runtime.client().run(v2::ticks, "endless").unwrap();
        let changed = async || {
            let history = run.history().await.unwrap().history.text();
            history.contains("marker     b-not-a 1")
        };
        while !changed().await {
            world.begun(1).await;
        }
        drop(runtime);

        // The old program cannot go on with what has the new branch.
        let runtime = first().await;
        world.gate.add_permits(1);
        let run = runtime.client().run(v1::ticks, "endless").unwrap();
        let (code, text) = blocked(&run).await;
        assert_eq!(code, "H208");
        assert!(text.contains("\"b-not-a\" 1"), "{text}");
        drop(runtime);

        let runtime = second().await;
        world.gate.add_permits(TICKS);
        let run = runtime.client().run(v2::ticks, "endless").unwrap();
        assert_eq!(run.result().await.unwrap(), "aaaaaabb");
        let history = run.history().await.unwrap();
        let text = history.history.text();
        assert_eq!(text.matches("marker").count(), 1, "{text}");
        assert_eq!(
            run.result().await.unwrap(),
            "aaaaaabb",
            "also after a cold replay"
        );
    })
    .await;
}

#[tokio::test]
async fn s37_the_label_is_recorded_with_the_run_and_never_compared() {
    each_place(async |place| {
        let world = World::new();
        world.gate.add_permits(100);
        let first = program(&place, &world, "v1").workflow(v1::ticks);
        let runtime = first.start().await.unwrap();
        let run = runtime
            .client()
            .start(v1::ticks, "labelled", ())
            .await
            .unwrap();
        assert_eq!(run.result().await.unwrap(), "aaaaaaaa");
        let history = run.history().await.unwrap().history;
        let perennial::history::Observation::Started(started) = &history.units[0].observation
        else {
            panic!("a history begins with `started`");
        };
        assert_eq!(started.version, Some(1));
    })
    .await;
}
