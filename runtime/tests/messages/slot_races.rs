//! Sends of workflows that meet something else on its way: a store that does not answer, another owner, a wait that
//! begins, a message that comes meanwhile (S4, M48).

use std::sync::Arc;

use perennial::history::Observation;
use perennial_runtime::Runtime;
use perennial_runtime::store::sled::Tamper;
use perennial_runtime::store::{Durability, Owner, SledStore, StoreError};

use crate::senders::*;
use crate::support::held::{HeldStore, Shared};
use crate::world::*;

async fn over(store: &Arc<HeldStore>, world: &Arc<World>) -> Runtime {
    let store = Arc::new(Shared(Arc::clone(store)));
    // What can be given up is given up at once: a wake-up that is lost is not made up for by chance.
    let builder = with_senders(store, world).warm_memory(0).shards(2);
    builder.start().await.unwrap()
}

/// Until so many writes are held since the last time.
async fn held(store: &HeldStore, writes: u32) {
    soon(store.holds.acquire_many(writes))
        .await
        .unwrap()
        .forget();
}

fn unknown() -> StoreError {
    StoreError::Unknown {
        reason: "the power is gone".into(),
    }
}

/// Brings a sender to its send, and lets that end as nobody knows; then the program is started again.
async fn lost(name: &'static str, lose: impl Fn(&HeldStore), sent_before: u64) {
    let (store, world) = (HeldStore::new(), World::new());
    let to = format!("{name}-to");
    let first = over(&store, &world).await;
    let client = first.client();
    client.start(several, to.clone(), 2).await.unwrap();
    let run = client.start(tells_later, name, (id(&to), 1)).await.unwrap();
    lose(&store);
    ring(&client, name).await;
    assert!(soon(run.result()).await.is_err(), "nothing goes on");
    drop((first, run, client));
    assert_eq!(
        arrivals(&Shared(Arc::clone(&store)), &key(&to)),
        sent_before
    );

    let second = over(&store, &world).await;
    let client = second.client();
    let run = client.run(tells_later, name).unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), [Ok(1)]);
    let other = client.run(several, to).unwrap();
    other.send(A, &9).await.unwrap();
    assert_eq!(soon(other.result()).await.unwrap(), [0, 9], "once");
    assert_eq!(sends(&history(&run).await).len(), 1);
}

#[tokio::test]
async fn m48_s4_a_send_whose_answer_was_lost_is_not_sent_again() {
    lost("m48-written", HeldStore::lose_next_answer, 1).await;
}

#[tokio::test]
async fn m48_s4_a_send_that_was_not_written_is_sent_then() {
    lost("m48-not", |store| store.refuse_next(unknown()), 0).await;
}

/// The same of a run that begins with it.
#[tokio::test]
async fn m48_a_run_that_begins_with_a_send_and_whose_answer_was_lost_has_sent_it_once() {
    let (store, world) = (HeldStore::new(), World::new());
    let first = over(&store, &world).await;
    let client = first.client();
    client.start(several, "begun-to", 2).await.unwrap();
    store.lose_next_answer();
    let started = client.start(tells, "begun", (id("begun-to"), 1)).await;
    assert!(started.is_err(), "{started:?}");
    drop((first, client));

    let second = over(&store, &world).await;
    let client = second.client();
    // Who asks again finds the run.
    let run = client.start(tells, "begun", (id("begun-to"), 1));
    let run = run.await.unwrap();
    ring(&client, "begun").await;
    assert_eq!(soon(run.result()).await.unwrap(), [Ok(1)]);
    let other = client.run(several, "begun-to").unwrap();
    other.send(A, &9).await.unwrap();
    assert_eq!(soon(other.result()).await.unwrap(), [0, 9]);
}

/// The embedded store: the pair is in one frame of the journal, so that neither is there without the other.
#[tokio::test]
async fn m48_over_the_embedded_store_a_write_that_fails_leaves_neither() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let options = SledStore::options().durability(Durability::Os);
        Arc::new(options.open(folder.path()).unwrap())
    };
    let (store, world) = (open(), World::new());
    let first = senders(store.clone(), &world).await;
    let client = first.client();
    client.start(several, "frame-to", 2).await.unwrap();
    let run = client
        .start(tells_after, "frame", id("frame-to"))
        .await
        .unwrap();
    world.begun().await;
    store.tamper(Tamper::FailNextWrite).unwrap();
    world.open(1);
    assert!(soon(run.result()).await.is_err());
    drop((run, client, first, store));

    let store = open();
    assert_eq!(arrivals(&*store, &key("frame-to")), 0);
    let second = senders(store, &world).await;
    let client = second.client();
    world.open(1);
    let run = client.run(tells_after, "frame").unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), Ok(1));
    let other = client.run(several, "frame-to").unwrap();
    other.send(A, &9).await.unwrap();
    assert_eq!(soon(other.result()).await.unwrap(), [7, 9]);
}

#[tokio::test]
async fn what_came_of_a_send_is_told_before_what_came_meanwhile() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let client = runtime.client();
    client.start(several, "next-to", 9).await.unwrap();
    let run = client
        .start(tells_later, "next", (id("next-to"), 2))
        .await
        .unwrap();
    store.hold();
    ring(&client, "next").await;
    held(&store, 1).await;
    // They are in its queue before what its send comes to.
    run.send(A, &1).await.unwrap();
    run.signal(BELL, &1).await.unwrap();
    run.send(A, &2).await.unwrap();
    store.release();
    assert_eq!(soon(run.result()).await.unwrap(), [Ok(1), Ok(2)]);
    let history = history(&run).await;
    // Each is followed by its result, which `sends` sees to; nothing else was told.
    assert_eq!(sends(&history).len(), 2);
    let told = history
        .units
        .iter()
        .filter(|unit| matches!(unit.observation, Observation::MessageArrived(_)));
    assert_eq!(told.count(), 0);
    assert_eq!(messages(&run).await.len(), 2);
}

#[tokio::test]
async fn a_commit_that_is_refused_sends_nothing_and_is_made_again() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let client = runtime.client();
    client.start(several, "refused-to", 2).await.unwrap();
    let run = client
        .start(tells_later, "refused", (id("refused-to"), 1))
        .await
        .unwrap();
    store.hold();
    ring(&client, "refused").await;
    held(&store, 1).await;
    store.claim_now(key("refused"), Owner(99));
    store.release();
    assert_eq!(soon(run.result()).await.unwrap(), [Ok(1)]);
    let other = client.run(several, "refused-to").unwrap();
    other.send(A, &9).await.unwrap();
    assert_eq!(soon(other.result()).await.unwrap(), [0, 9]);
}

/// The store has said of the message that it wakes nobody. The other run has begun to wait for it since, and has left
/// the memory, before anybody hears of that.
#[tokio::test]
async fn m03_a_message_that_is_heard_of_after_the_wait_for_it_has_begun_wakes_it() {
    let (store, world) = (HeldStore::new(), World::new());
    let runtime = over(&store, &world).await;
    let client = runtime.client();
    let other = client.start(busy, "late-to", 1).await.unwrap();
    world.begun().await;
    client
        .start(tells_later, "late", (id("late-to"), 1))
        .await
        .unwrap();
    store.hold();
    world.open(1);
    held(&store, 1).await;
    store.hold_commit_answers();
    ring(&client, "late").await;
    held(&store, 1).await;
    // The message is stored, of which nobody hears, and then the wait for it, with which its run gives up what it has.
    store.release_last();
    held(&store, 1).await;
    store.release_first();
    until(async || other.status().await.unwrap().events == 4).await;
    store.release();
    assert_eq!(soon(other.result()).await.unwrap(), [0]);
}
