//! Waits with a time limit (M32 to M36): which comes first is told by stamps, and by nothing else.

use std::sync::Arc;

use perennial_runtime::{MessageState, Runtime};

use crate::support::clock::Set;
use crate::support::held::{HeldStore, Shared};
use crate::support::{Place, each_place, each_store};
use crate::world::*;

/// In seconds.
const HOUR: u64 = 3_600;

#[tokio::test]
async fn m32_a_wait_whose_time_is_over_has_nothing_also_in_replay() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let run = first.client().start(impatient, "m32", ()).await.unwrap();
        world.begun().await;
        // It comes too late for that wait, whatever happens.
        run.send(A, &1).await.unwrap();
        drop(first);
        let second = runtime(place.open(), &world).await;
        let run = second.client().run(impatient, "m32").unwrap();
        world.begun().await;
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), None);
        assert_eq!(messages(&run).await[0].state, MessageState::Unread);
    })
    .await;
}

/// A runtime over a store that outlives it.
async fn process(store: &Arc<HeldStore>, clock: &Set) -> Runtime {
    let builder = builder(Arc::new(Shared(Arc::clone(store))), &World::new());
    builder.clock(clock.clone()).start().await.unwrap()
}

/// A message is stored at that second, and the process ends before the run is told of it. The next process starts at
/// another second.
async fn told_by_the_next_process(id: &str, sent: u64, resumed: u64) -> (Option<u64>, u64) {
    let (store, clock) = (HeldStore::new(), Set::new());
    let first = process(&store, &clock).await;
    let run = first.client().start(limited, id, ()).await.unwrap();
    clock.at(sent);
    store.hold();
    run.send(A, &1).await.unwrap();
    soon(store.holds.acquire()).await.unwrap().forget();
    store.drop_held();
    drop(first);
    clock.at(resumed);
    let second = process(&store, &clock).await;
    let run = second.client().run(limited, id).unwrap();
    // It may have ended.
    let _ = run.send(A, &2).await;
    soon(run.result()).await.unwrap()
}

#[tokio::test]
async fn m33_a_message_that_came_before_the_deadline_wins_though_the_run_goes_on_after_it() {
    let got = told_by_the_next_process("m33", HOUR - 1, 2 * HOUR).await;
    assert_eq!(got, (Some(1), 2));
}

#[tokio::test]
async fn m34_m35_a_message_that_came_after_the_deadline_is_the_next_waits_though_the_clock_goes_back()
 {
    for resumed in [HOUR, 3 * HOUR, 1] {
        let got = told_by_the_next_process("m34", HOUR, resumed).await;
        assert_eq!(got, (None, 1), "resumed at {resumed}");
    }
}

#[tokio::test]
async fn m34_also_where_the_timer_has_not_rung_yet() {
    each_store(async |store| {
        let (world, clock) = (World::new(), Set::new());
        let builder = builder(store, &world).clock(clock.clone());
        let runtime = builder.start().await.unwrap();
        let run = runtime
            .client()
            .start(limited, "m34-warm", ())
            .await
            .unwrap();
        // The timer rings in an hour of this process, and the clock says that it is over.
        clock.at(HOUR);
        run.send(A, &1).await.unwrap();
        assert_eq!(soon(run.result()).await, Ok((None, 1)));
    })
    .await;
}

#[tokio::test]
async fn m33_before_the_deadline_the_message_wins_where_nothing_has_happened_since() {
    each_store(async |store| {
        let (world, clock) = (World::new(), Set::new());
        let builder = builder(store.clone(), &world).clock(clock.clone());
        let runtime = builder.start().await.unwrap();
        let run = runtime
            .client()
            .start(limited, "m33-warm", ())
            .await
            .unwrap();
        clock.at_millis(HOUR * 1_000 - 1);
        run.send(A, &1).await.unwrap();
        run.send(A, &2).await.unwrap();
        assert_eq!(soon(run.result()).await, Ok((Some(1), 2)));
    })
    .await;
}

#[tokio::test]
async fn m36_a_wait_has_no_time_limit_that_nobody_set() {
    each_store(async |store| {
        let runtime = runtime(store.clone(), &World::new()).await;
        runtime.client().start(one, "m36", ()).await.unwrap();
        let loaded = store.load(&key("m36")).unwrap().unwrap();
        assert_eq!(loaded.timers, []);
    })
    .await;
}
