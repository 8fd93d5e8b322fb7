//! What the start of a program costs where there are blocked runs, and what it tries.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use perennial::prelude::*;
use perennial_runtime::store::sled::Tamper;
use perennial_runtime::store::{Durability, SledStore, Store};
use perennial_runtime::{Builder, RunState, Runtime};

use super::meanwhile::{bad, leave_in_the_middle, naps, order, released};
use super::place::{Place, World, add, bytes, charge, code, loaded, program};

static PANICS: AtomicBool = AtomicBool::new(false);
static LOOPS: AtomicBool = AtomicBool::new(false);

#[workflow]
async fn faulty(cx: &Cx) -> Result<u64, Error> {
    let sum = add(cx, 1, 2).await?;
    #[allow_nondeterminism(
        statics,
        reason = "what a program that is repaired and started again looks like"
    )]
    if PANICS.load(Ordering::SeqCst) {
        panic!("a fault of the code");
    }
    #[allow_nondeterminism(
        statics,
        reason = "what a program that is repaired and started again looks like"
    )]
    while LOOPS.load(Ordering::SeqCst) {
        cx.record("again", || 1);
    }
    Ok(charge(cx, sum).await?)
}

fn faulty_program(store: &Arc<dyn Store>, world: &Arc<World>) -> Builder {
    program(store, world, "the same").workflow(faulty)
}

/// Why it was blocked cannot be read any more, which takes nothing from the run: it is listed, and goes on.
#[tokio::test]
async fn s16_a_run_with_a_blocked_record_that_cannot_be_read_is_told_and_tried_by_each_start() {
    let world = World::new();
    let place = Place::Folder(tempfile::tempdir().unwrap());
    leave_in_the_middle(&place, &world, &["order-1"]).await;
    let key = super::place::key("order-1");
    let tampered = |artifact: &str| {
        let Place::Folder(folder) = &place else {
            unreachable!()
        };
        let options = SledStore::options().durability(Durability::Os);
        let store = options.open(folder.path()).unwrap();
        store.tamper(Tamper::FlipBlocked(&key, artifact)).unwrap();
        store.close().unwrap();
    };
    let codes = |runtime: &Runtime| {
        let client = runtime.client();
        async move {
            let page = client.list().blocked(true).page().await.unwrap();
            let RunState::Blocked { errors } = &page.runs[0].state else {
                panic!("it is blocked")
            };
            errors
                .iter()
                .map(|one| one.code.clone())
                .collect::<Vec<_>>()
        }
    };
    // The program would not try it, if it could be read that it is unfit.
    for start in ["first", "second"] {
        let store = place.store();
        let runtime = bad(&store, &world, "tuesday").start().await.unwrap();
        let run = runtime.client().run(order, "order-1").unwrap();
        assert_eq!(code(run.result().await), "H202", "{start}");
        assert_eq!(codes(&runtime).await, ["H202"], "{start}");
        drop(runtime);
        drop(store);
        tampered("tuesday");
    }
    let store = place.store();
    assert!(loaded(&*store, "order-1").blocked[0].is_unreadable());
    let runtime = released(&store, &world).start().await.unwrap();
    world.gate.add_permits(2);
    let run = runtime.client().run(order, "order-1").unwrap();
    assert_eq!(run.result().await.unwrap(), 22);
    assert!(loaded(&*store, "order-1").blocked.is_empty());
}

/// The same program: what is wrong was repaired outside it.
#[tokio::test]
async fn s14_a_panic_and_a_runaway_are_tried_once_by_each_process_that_starts() {
    for (fault, expected) in [(&PANICS, "W101"), (&LOOPS, "W102")] {
        for place in Place::both() {
            let world = World::new();
            fault.store(true, Ordering::SeqCst);
            let mut times = Vec::new();
            for start in 1..=3 {
                let store = place.store();
                let runtime = faulty_program(&store, &world).start().await.unwrap();
                let run = match start {
                    1 => runtime.client().start(faulty, "run", ()).await.unwrap(),
                    _ => runtime.client().run(faulty, "run").unwrap(),
                };
                assert_eq!(code(run.result().await), expected);
                let RunState::Blocked { errors } = run.status().await.unwrap().state else {
                    panic!("it is blocked")
                };
                assert_eq!(errors.len(), 1);
                assert!(!errors[0].unfit);
                times.push(loaded(&*store, "run").head.fence);
            }
            assert_eq!(times[1].0, times[0].0 + 1, "it was claimed once");
            assert_eq!(times[2].0, times[1].0 + 1, "it was claimed once");

            fault.store(false, Ordering::SeqCst);
            let store = place.store();
            let runtime = faulty_program(&store, &world).start().await.unwrap();
            let run = runtime.client().run(faulty, "run").unwrap();
            assert_eq!(run.result().await.unwrap(), 3);
            assert_eq!(run.status().await.unwrap().state, RunState::Completed);
            assert_eq!(world.executions("add"), 1);
        }
    }
}

/// A claim shows who has touched a run.
#[tokio::test]
async fn s16_a_program_leaves_the_runs_alone_that_can_never_go_on_in_it() {
    const RUNS: usize = 60;
    for place in Place::both() {
        let world = World::new();
        let ids: Vec<_> = (0..RUNS).map(|number| format!("order-{number}")).collect();
        let names: Vec<_> = ids.iter().map(String::as_str).collect();
        leave_in_the_middle(&place, &world, &names).await;
        let store = place.store();
        let runtime = bad(&store, &world, "tuesday").start().await.unwrap();
        for id in &ids {
            let run = runtime.client().run(order, id.as_str()).unwrap();
            assert_eq!(code(run.result().await), "H202");
        }
        drop(runtime);
        drop(store);
        let look = |store: &dyn Store| {
            let heads = ids.iter().map(|id| loaded(store, id).head);
            heads
                .map(|head| (head.owner, head.fence, head.stamp))
                .collect::<Vec<_>>()
        };
        let before = place.look(look);
        let executed = world.executions("check");

        // Timers of all of them are due, and each of them has an open activity.
        let store = place.store();
        let runtime = bad(&store, &world, "tuesday").start().await.unwrap();
        let nap = runtime.client().start(naps, "nap", 1).await.unwrap();
        nap.result().await.unwrap();
        for id in &ids {
            let run = runtime.client().run(order, id.as_str()).unwrap();
            assert_eq!(code(run.result().await), "H202");
        }
        drop(runtime);
        drop(store);
        assert_eq!(place.look(look), before);
        assert_eq!(world.executions("check"), executed);

        let store = place.store();
        let runtime = released(&store, &world).start().await.unwrap();
        world.gate.add_permits(RUNS + 1);
        for id in &ids {
            let run = runtime.client().run(order, id.as_str()).unwrap();
            assert_eq!(run.result().await.unwrap(), 22);
        }
        assert_eq!(world.executions("charge"), u32::try_from(RUNS).unwrap());
    }
}

/// It is the store that is damaged, so no program is unfit: each that starts looks again.
#[tokio::test]
async fn s17_a_damaged_history_blocks_its_run_alone_and_is_looked_at_by_each_start() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let place = Place::Folder(folder);
    leave_in_the_middle(&place, &world, &["damaged", "gap", "whole"]).await;
    let Place::Folder(folder) = &place else {
        unreachable!()
    };
    let options = SledStore::options().durability(Durability::Os);
    let store = options.open(folder.path()).unwrap();
    let key = super::place::key;
    store
        .tamper(Tamper::FlipUnit(&key("damaged"), 1, 1))
        .unwrap();
    store.tamper(Tamper::LoseUnit(&key("gap"), 1, 3)).unwrap();
    store.close().unwrap();
    drop(store);

    for start in 1..=2 {
        let store = place.store();
        let runtime = released(&store, &world).start().await.unwrap();
        for (id, expected) in [("damaged", "H213"), ("gap", "H212")] {
            let run = runtime.client().run(order, id).unwrap();
            assert_eq!(code(run.result().await), expected);
            let records = loaded(&*store, id).blocked;
            assert_eq!((records.len(), records[0].unfit), (1, false), "{start}");
        }
        if start == 2 {
            world.gate.add_permits(10);
            let whole = runtime.client().run(order, "whole").unwrap();
            assert_eq!(whole.result().await.unwrap(), 22);
            assert_eq!(
                bytes(&*store, "whole").len(),
                whole.history().await.unwrap().history.units.len()
            );
        }
    }
}
