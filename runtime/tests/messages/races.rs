//! Sends that meet something else on its way: a wait that begins, an end, another owner, a store that does not answer.

use std::sync::Arc;

use perennial::history::Decision;
use perennial_runtime::store::{Owner, Status, StoreError};
use perennial_runtime::{MessageState, Runtime, SendError};

use crate::support::held::{HeldStore, Shared};
use crate::world::*;

async fn over(store: &Arc<HeldStore>, world: &Arc<World>) -> Runtime {
    let builder = builder(Arc::new(Shared(Arc::clone(store))), world);
    // What can be given up is given up at once: a wake-up that is lost is not made up for by chance.
    builder.warm_memory(0).start().await.unwrap()
}

/// Until so many writes are held since the last time.
async fn held(store: &HeldStore, writes: u32) {
    soon(store.holds.acquire_many(writes))
        .await
        .unwrap()
        .forget();
}

#[tokio::test]
async fn m03_a_message_that_is_stored_before_the_wait_is_durable_wakes_it() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(busy, "m03-before", 1).await.unwrap();
    world.begun().await;
    store.hold();
    world.open(1);
    // The wait has begun, and the store does not know of it.
    held(&store, 1).await;
    run.send(A, &7).await.unwrap();
    store.release();
    assert_eq!(soon(run.result()).await.unwrap(), [7]);
}

#[tokio::test]
async fn m03_a_message_that_is_stored_after_the_wait_is_durable_wakes_it() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(busy, "m03-after", 1).await.unwrap();
    world.begun().await;
    store.hold_deliveries();
    let send = tokio::spawn(run.send(A, &7).into_future());
    held(&store, 1).await;
    world.open(1);
    until(async || run.status().await.unwrap().events == 4).await;
    assert!(
        !send.is_finished(),
        "nothing is acknowledged that is not durable (S4)"
    );
    store.release();
    soon(send).await.unwrap().unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), [7]);
}

#[tokio::test]
async fn m03_a_message_that_is_stored_before_the_wait_and_heard_of_after_it_wakes_it() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(busy, "m03-late", 1).await.unwrap();
    world.begun().await;
    store.hold();
    world.open(1);
    held(&store, 1).await;
    store.hold_answers();
    let send = tokio::spawn(run.send(A, &7).into_future());
    held(&store, 1).await;
    // The wait is durable now, and nothing else is under way with the run; the store has said of the message that it
    // wakes nobody.
    store.release_first();
    assert!(!send.is_finished());
    store.release();
    soon(send).await.unwrap().unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), [7]);
}

#[tokio::test]
async fn m09_a_message_that_is_stored_before_the_end_is_left_unread() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(deaf, "m09-before", 0).await.unwrap();
    world.begun().await;
    store.hold();
    world.open(1);
    held(&store, 1).await;
    run.send(A, &7).await.unwrap();
    store.release();
    soon(run.result()).await.unwrap();
    assert_eq!(messages(&run).await[0].state, MessageState::Unread);
}

#[tokio::test]
async fn m09_a_message_that_comes_to_the_store_after_the_end_is_refused() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(deaf, "m09-after", 0).await.unwrap();
    world.begun().await;
    store.hold_deliveries();
    let send = tokio::spawn(run.send(A, &7).into_future());
    held(&store, 1).await;
    world.open(1);
    soon(run.result()).await.unwrap();
    store.release();
    let refused = soon(send).await.unwrap();
    assert!(
        matches!(
            &refused,
            Err(SendError::RunFinished {
                status: Status::Completed,
                ..
            })
        ),
        "{refused:?}"
    );
    assert_eq!(messages(&run).await, []);
}

#[tokio::test]
async fn m28_a_message_whose_commit_was_lost_is_at_its_old_place() {
    let (store, world) = (HeldStore::new(), World::new());
    let first = over(&store, &world).await;
    let run = first.client().start(several, "m28", 2).await.unwrap();
    store.hold();
    run.send(A, &1).await.unwrap();
    held(&store, 1).await;
    run.send(A, &2).await.unwrap();
    // The process ends, and what it had decided is lost with it.
    store.drop_held();
    drop(first);
    let second = over(&store, &world).await;
    let run = second.client().run(several, "m28").unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn m29_m31_an_owner_that_has_lost_the_run_takes_nothing_for_it() {
    let (store, world) = (HeldStore::new(), World::new());
    let counted = Counted::from_now("m29");
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(one, "m29", ()).await.unwrap();
    store.hold();
    run.send(A, &7).await.unwrap();
    held(&store, 1).await;
    // Its commit takes the message, and comes too late.
    store.claim_now(key("m29"), Owner(99));
    store.release();
    assert_eq!(soon(run.result()).await, Ok(7));
    let history = run.history().await.unwrap().history;
    let decisions = history.units.iter().flat_map(|unit| &unit.decisions);
    let taken = decisions.filter(|decision| matches!(decision, Decision::Received { .. }));
    assert_eq!(taken.count(), 1);
    assert_eq!(
        counted.now().1,
        2,
        "it was told again after the first try was refused"
    );
}

#[tokio::test]
async fn what_the_store_does_not_know_is_unacknowledged() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(one, "unknown", ()).await.unwrap();
    store.hold_deliveries();
    let send = tokio::spawn(run.send(A, &7).into_future());
    held(&store, 1).await;
    // Another run's commit ends as nobody knows, and nothing goes on.
    store.refuse_next(StoreError::Unknown {
        reason: "the disk is gone".into(),
    });
    let _ = runtime.client().start(deaf, "other", 0).await;
    let result = soon(send).await.unwrap();
    assert!(
        matches!(result, Err(SendError::Unacknowledged { .. })),
        "{result:?}"
    );
    let result = run.send(A, &7).await;
    assert!(
        matches!(result, Err(SendError::Unavailable(_))),
        "{result:?}"
    );
}

#[tokio::test]
async fn a_send_that_the_runtime_did_not_live_to_answer_is_unacknowledged() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(one, "stopped", ()).await.unwrap();
    store.hold_deliveries();
    let send = tokio::spawn(run.send(A, &7).into_future());
    held(&store, 1).await;
    drop(runtime);
    let result = soon(send).await.unwrap();
    assert!(
        matches!(result, Err(SendError::Unacknowledged { .. })),
        "{result:?}"
    );
}

#[tokio::test]
async fn a_runtime_that_drains_takes_messages_and_answers_before_it_stops() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let run = runtime.client().start(busy, "drains", 1).await.unwrap();
    world.begun().await;
    let client = runtime.client();
    let drain = tokio::spawn(runtime.drain(std::time::Duration::from_secs(30)));
    until(async || client.start(one, "refused", ()).await.is_err()).await;
    store.hold_deliveries();
    let send = tokio::spawn(run.send(A, &7).into_future());
    held(&store, 1).await;
    world.open(1);
    until(async || run.status().await.unwrap().events == 4).await;
    store.release();
    soon(send).await.unwrap().unwrap();
    assert_eq!(soon(drain).await.unwrap().unfinished, 0);
    let next = over(&store, &world).await;
    let run = next.client().run(busy, "drains").unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), [7]);
}
