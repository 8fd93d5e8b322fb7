//! Both runs or neither, whatever happens between.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use perennial_runtime::store::{Owner, Refusal, Status, Store, StoreError};
use perennial_runtime::{MigrateError, RunState, Unavailable};

use crate::shop::{Place, World, blocked, key, move_it, next, to_v2};
use crate::support::held::{HeldStore, Shared};

/// How both runs stand.
fn stand(store: &Arc<HeldStore>) -> (Status, Option<Status>) {
    let store = Shared(Arc::clone(store));
    let status = |id: &str| store.head(&key(id)).unwrap().map(|head| head.status);
    (status("order-42").unwrap(), status("order-42-v2"))
}

const BEFORE: (Status, Option<Status>) = (Status::Running, None);

async fn blocked_in(store: &Arc<HeldStore>) -> (Place, Arc<World>, perennial_runtime::Runtime) {
    let (place, world) = (Place::Memory(Arc::clone(store)), World::new());
    let runtime = blocked(&place, &world).await;
    (place, world, runtime)
}

#[tokio::test]
async fn s38_a_process_that_ends_before_the_write_leaves_both_as_they_were() {
    let store = HeldStore::new();
    let (place, world, runtime) = blocked_in(&store).await;
    let client = runtime.client();
    store.hold();
    let asked = tokio::spawn(async move { client.migrate("order-42", to_v2, "order-42-v2").await });
    store.holds.acquire().await.unwrap().forget();
    assert_eq!(stand(&store), BEFORE);
    drop(runtime);
    assert!(matches!(
        asked.await.unwrap(),
        Err(MigrateError::Unavailable(Unavailable::Stopped))
    ));
    store.drop_held();
    assert_eq!(stand(&store), BEFORE);
    let runtime = place.second(&world).await;
    let client = runtime.client();
    let new = move_it(&client).await;
    assert_eq!(new.result().await.unwrap(), "nothing for 12");
}

#[tokio::test]
async fn s38_a_process_that_ends_after_the_write_leaves_both_changed() {
    let store = HeldStore::new();
    let (place, world, runtime) = blocked_in(&store).await;
    let client = runtime.client();
    store.hold();
    let asked = tokio::spawn(async move { client.migrate("order-42", to_v2, "order-42-v2").await });
    store.holds.acquire().await.unwrap().forget();
    drop(runtime);
    assert!(asked.await.unwrap().is_err());
    // It was on its way, and nobody is there any more to hear of it.
    store.release();
    assert_eq!(stand(&store), (Status::Migrated, Some(Status::Running)));
    let runtime = place.second(&world).await;
    let client = runtime.client();
    // The new run goes on by itself, and who asks again is answered with it.
    let new = client.run(next::order_v2, "order-42-v2").unwrap();
    assert_eq!(new.result().await.unwrap(), "nothing for 12");
    let again = move_it(&client).await;
    assert_eq!(again.id(), new.id());
    assert_eq!(world.charged.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn s04_where_the_fate_of_the_write_is_not_known_that_is_said() {
    let store = HeldStore::new();
    let (place, world, runtime) = blocked_in(&store).await;
    store.refuse_next(StoreError::Unknown {
        reason: "the device is gone".into(),
    });
    let client = runtime.client();
    let asked = client.migrate("order-42", to_v2, "order-42-v2").await;
    assert!(matches!(
        asked,
        Err(MigrateError::Unavailable(Unavailable::Store(
            StoreError::Unknown { .. }
        )))
    ));
    // Nothing goes on in this process.
    let more = client.migrate("order-42", to_v2, "order-42-v2").await;
    assert!(matches!(more, Err(MigrateError::Unavailable(_))));
    drop(runtime);
    let runtime = place.second(&world).await;
    let client = runtime.client();
    move_it(&client).await;
}

#[tokio::test]
async fn s38_a_run_that_another_owner_has_claimed_is_claimed_again() {
    let store = HeldStore::new();
    let (_place, _world, runtime) = blocked_in(&store).await;
    let claimed = Box::new(|claimed: Result<_, StoreError>| drop(claimed.unwrap()));
    Shared(Arc::clone(&store)).claim(key("order-42"), Owner(99), claimed);
    let client = runtime.client();
    let new = move_it(&client).await;
    assert_eq!(new.result().await.unwrap(), "nothing for 12");
}

#[tokio::test]
async fn s38_a_run_of_the_new_id_that_came_first_is_not_replaced() {
    let store = HeldStore::new();
    let (_place, _world, runtime) = blocked_in(&store).await;
    let client = runtime.client();
    store.refuse_next(StoreError::Refused(Refusal::Exists {
        run: key("order-42-v2"),
    }));
    let taken = client.migrate("order-42", to_v2, "order-42-v2").await;
    assert!(matches!(taken, Err(MigrateError::TargetExists { .. })));
    assert_eq!(stand(&store), BEFORE);
    // The old run is as it was, and can be moved elsewhere.
    let state = client.status(&key("order-42").id).await.unwrap().state;
    assert!(matches!(state, RunState::Blocked { .. }));
    let new = client
        .migrate("order-42", to_v2, "order-42-v3")
        .await
        .unwrap();
    assert_eq!(new.result().await.unwrap(), "nothing for 12");
}

#[tokio::test]
async fn o56_a_runtime_that_drains_moves_nothing() {
    let store = HeldStore::new();
    let (_place, world, runtime) = blocked_in(&store).await;
    let client = runtime.client();
    world.pack_begins().await;
    let (drained, asked) = tokio::join!(runtime.drain(std::time::Duration::from_secs(60)), async {
        let asked = client.migrate("order-42", to_v2, "order-42-v2").await;
        world.let_pack();
        asked
    });
    assert_eq!(drained.unfinished, 0);
    assert!(matches!(
        asked,
        Err(MigrateError::Unavailable(Unavailable::Draining))
    ));
    assert_eq!(stand(&store), BEFORE);
}
