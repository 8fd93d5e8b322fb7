//! Migrations that change nothing, and what they say.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perennial::history::Observation;
use perennial::prelude::*;
use perennial_runtime::store::{Head, Loaded};
use perennial_runtime::{MigrateError, RunState};

use crate::shop::{
    OrderV2, Place, World, an_order, blocked, careless, each_place, key, move_it, next, order_v2,
    pack, packing, to_v2,
};

#[migration(from = next::order, to = next::order_v2)]
fn says_no(_old: &OldRun) -> Result<OrderV2, Refuse> {
    Err(Refuse::because("orders of this customer stay as they are"))
}

#[migration(from = next::order, to = next::order_v2)]
fn reads_wrong(old: &OldRun) -> Result<OrderV2, Refuse> {
    let cents: u64 = old.input()?;
    Err(Refuse::because(cents))
}

#[migration(from = next::order, to = next::order_v2)]
fn panics(old: &OldRun) -> Result<OrderV2, Refuse> {
    panic!("nothing to see of {}", old.id())
}

#[migration(from = next::order, to = next::order)]
fn to_itself(old: &OldRun) -> Result<crate::shop::Order, Refuse> {
    old.keep_activities();
    old.stop_timers();
    old.input()
}

/// What is not registered.
#[workflow]
async fn order_v3(_cx: &Cx, input: OrderV2) -> Result<u64, Error> {
    Ok(input.order.cents)
}

#[migration(from = next::order, to = order_v3)]
fn to_v3(old: &OldRun) -> Result<OrderV2, Refuse> {
    to_v2::run(old)
}

#[migration(from = next::order_v2, to = next::order_v2)]
fn of_another(old: &OldRun) -> Result<OrderV2, Refuse> {
    old.input()
}

/// All that is stored of a run but who owns it: a look takes it over.
fn stored(place: &Place, id: &str) -> (Loaded, Vec<perennial::history::Unit>) {
    place.look(|store| {
        let run = key(id);
        let mut loaded = store.load(&run).unwrap().unwrap();
        loaded.head = Head {
            owner: Default::default(),
            fence: Default::default(),
            ..loaded.head
        };
        for task in &mut loaded.tasks {
            task.started = None;
            task.lost = 0;
            task.attempt = 1;
            task.last_failure = None;
            task.not_before = Default::default();
        }
        (loaded, store.history(&run, 1, 1, 99).unwrap())
    })
}

#[tokio::test]
async fn s38_what_is_open_and_not_disposed_of_is_named_and_nothing_is_written() {
    each_place(async |place| {
        let world = World::new();
        drop(blocked(&place, &world).await);
        let before = stored(&place, "order-42");
        let runtime = place.second(&world).await;
        let client = runtime.client();
        let mut texts = Vec::new();
        macro_rules! refused {
            ($migration:expr, $to:expr) => {
                let refused = client.migrate("order-42", $migration, $to).await;
                texts.push(refused.unwrap_err().to_string());
            };
        }
        let open = client.migrate("order-42", careless, "order-42-v2").await;
        let Err(MigrateError::Open { open, .. }) = open else {
            panic!("something is open: {open:?}")
        };
        let operations: Vec<_> = open.iter().map(|open| open.operation).collect();
        assert_eq!(operations, [2, 4]);
        refused!(careless, "order-42-v2");
        refused!(says_no, "order-42-v2");
        refused!(reads_wrong, "order-42-v2");
        refused!(panics, "order-42-v2");
        refused!(of_another, "order-42-v2");
        refused!(to_v3, "order-42-v3");
        refused!(to_v2, "order-42");
        refused!(to_v2, "order 42");
        let nobody = client.migrate("nobody", to_v2, "order-42-v2").await;
        texts.push(nobody.unwrap_err().to_string());
        let named = |name: &'static str| {
            let (id, to) = ("order-42".parse().unwrap(), "order-42-v2".parse().unwrap());
            async { client.migrate_named(id, name, to).await.unwrap_err() }
        };
        texts.push(named("to_v3").await.to_string());
        texts.push(named("something else").await.to_string());
        assert!(
            client
                .status(&"order-42-v2".parse().unwrap())
                .await
                .is_err()
        );
        drop(runtime);
        let after = stored(&place, "order-42");
        assert_eq!(before, after, "something was changed");
        insta::assert_snapshot!("refused", texts.join("\n\n---\n\n"));
    })
    .await;
}

#[tokio::test]
async fn s38_a_run_is_not_moved_to_one_that_is_there() {
    each_place(async |place| {
        let world = World::new();
        let runtime = blocked(&place, &world).await;
        let client = runtime.client();
        let other = OrderV2 {
            order: an_order(),
            receipt: None,
            packed: None,
        };
        client.start(order_v2, "taken", other).await.unwrap();
        let taken = client.migrate("order-42", to_v2, "taken").await;
        assert!(matches!(taken, Err(MigrateError::TargetExists { .. })));
        // In another namespace it is another one.
        let there = client.in_namespace("other".parse().unwrap());
        assert!(matches!(
            there.migrate("order-42", to_v2, "taken").await,
            Err(MigrateError::NotFound { .. })
        ));
        let itself = client.migrate("order-42", to_itself, "order-42").await;
        assert!(matches!(itself, Err(MigrateError::TargetExists { .. })));
        let state = client
            .status(&"order-42".parse().unwrap())
            .await
            .unwrap()
            .state;
        assert!(matches!(state, RunState::Blocked { .. }));
        // To a new run of the same workflow it can be.
        let anew = client
            .migrate("order-42", to_itself, "order-43")
            .await
            .unwrap();
        world.pack_begins().await;
        world.let_pack();
        world.let_pack();
        assert_eq!(anew.result().await.unwrap(), 12);
    })
    .await;
}

#[tokio::test]
async fn s38_a_run_that_has_ended_is_not_moved() {
    each_place(async |place| {
        let world = World::new();
        let runtime = packing(&place, &world).await;
        let client = runtime.client();
        let new = move_it(&client).await;
        new.result().await.unwrap();
        let elsewhere = client.migrate("order-42", to_v2, "order-42-v3").await;
        let finished = client
            .migrate("order-42-v2", of_another, "order-42-v3")
            .await;
        assert!(matches!(
            &elsewhere,
            Err(MigrateError::Migrated { to, .. }) if to.as_str() == "order-42-v2"
        ));
        assert!(matches!(&finished, Err(MigrateError::Finished { .. })));
        let texts = [
            elsewhere.unwrap_err().to_string(),
            finished.unwrap_err().to_string(),
        ];
        insta::assert_snapshot!("ended", texts.join("\n\n---\n\n"));
    })
    .await;
}

// ---- a run that goes on meanwhile ------------------------------------------------------------------------

/// Packs again and again.
#[workflow]
async fn busy(cx: &Cx, times: u32) -> Result<u32, Error> {
    for _ in 0..times {
        pack(cx, "A-1".to_owned()).await?;
    }
    cx.sleep(days(1)).await?;
    Ok(times)
}

static LOOKS: AtomicU32 = AtomicU32::new(0);
static MEANWHILE: std::sync::Mutex<Option<(Arc<World>, tokio::runtime::Handle, u32)>> =
    std::sync::Mutex::new(None);

/// While it looks at the run, that goes on, so many times.
#[migration(from = busy, to = busy)]
fn disturbed(old: &OldRun) -> Result<u32, Refuse> {
    let look = LOOKS.fetch_add(1, Ordering::SeqCst);
    let meanwhile = MEANWHILE.lock().unwrap().clone();
    if let Some((world, tokio, times)) = meanwhile
        && look < times
    {
        world.let_pack();
        // The next call has begun, so the result of this one is in the history.
        tokio.block_on(world.pack_begins());
    }
    old.keep_activities();
    old.stop_timers();
    Ok(u32::try_from(old.results(pack)?.len()).unwrap())
}

/// How often it was looked at, and what came of it.
async fn disturb(place: &Place, times: u32) -> (u32, Result<u64, MigrateError>) {
    let world = World::new();
    let builder = place.program(&world, "busy").workflow(busy);
    let runtime = builder.start().await.unwrap();
    let client = runtime.client();
    client.start(busy, "busy", 20).await.unwrap();
    world.pack_begins().await;
    LOOKS.store(0, Ordering::SeqCst);
    let meanwhile = (Arc::clone(&world), tokio::runtime::Handle::current(), times);
    *MEANWHILE.lock().unwrap() = Some(meanwhile);
    let moved = client.migrate("busy", disturbed, "busy-2").await;
    *MEANWHILE.lock().unwrap() = None;
    let looks = LOOKS.load(Ordering::SeqCst);
    let state = client.status(&"busy".parse().unwrap()).await.unwrap();
    match moved {
        Ok(_) => {
            assert_eq!(state.state, RunState::Migrated);
            let id = "busy-2".parse().unwrap();
            let input = loop {
                let history = client.history(&id).await.unwrap().history;
                match history
                    .units
                    .into_iter()
                    .next()
                    .map(|unit| unit.observation)
                {
                    Some(Observation::Started(started)) => break started.input,
                    _ => tokio::task::yield_now().await,
                }
            };
            let results = input.decode().unwrap();
            (looks, Ok(results))
        }
        Err(error) => {
            assert_eq!(state.state, RunState::Running);
            (looks, Err(error))
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s38_a_run_that_goes_on_meanwhile_is_looked_at_again() {
    each_place(async |place| {
        let (looks, moved) = disturb(&place, 3).await;
        assert_eq!(
            (looks, moved),
            (4, Ok(3)),
            "what it saw last is what was written"
        );
    })
    .await;
    each_place(async |place| {
        let (looks, moved) = disturb(&place, u32::MAX).await;
        assert!(matches!(moved, Err(MigrateError::Moving { tries: 10, .. })));
        assert_eq!(looks, 10);
        insta::assert_snapshot!("moving", moved.unwrap_err());
    })
    .await;
}
