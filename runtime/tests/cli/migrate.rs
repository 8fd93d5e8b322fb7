//! `migrate`: a run of a store that is stopped is moved to a new one.

use std::sync::Arc;

use perennial::history::{Observation, Render, render};
use perennial::prelude::*;
use perennial::{Namespace, RunKey};
use perennial_runtime::Builder;
use perennial_runtime::store::{MemoryStore, Status, Store};

use crate::shop::{charge_card, check_address, order_1, order_3, ship};
use crate::world::{Event, World, block, enqueue, put, record};

/// What the second program makes of orders.
#[workflow]
async fn delivery(cx: &Cx, receipt: Option<u64>) -> Result<(), Error> {
    Ok(ship(cx, receipt.unwrap_or(1)).await?)
}

/// An order whose card was charged is delivered at once.
#[migration(from = order_3, to = delivery)]
fn deliver_now(old: &OldRun) -> Result<Option<u64>, Refuse> {
    old.stop_timers();
    old.last_result(charge_card)
}

fn program(store: impl perennial_runtime::IntoStore) -> Builder {
    perennial_runtime::Runtime::builder(store)
        .durability(perennial_runtime::store::Durability::Os)
        .workflow(order_3)
        .workflow(delivery)
        .activities((charge_card, check_address, ship))
        .migration(deliver_now)
        .clock(Then)
        .artifact("shop 3")
}

#[derive(Debug)]
struct Then;

impl perennial_runtime::Clock for Then {
    fn now(&self) -> Timestamp {
        crate::world::NOW
    }
}

/// One run that is charged and sleeps, one whose charge came while it was blocked, one that has ended.
fn fill(store: &dyn Store) {
    let paid = [Event::Done(1, "1250")];
    put(store, &record(order_1, "order-1", "shop 1", &paid));
    put(store, &record(order_1, "shop/order-2", "shop 1", &[]));
    let all = [
        Event::Done(1, "1250"),
        Event::Fired(2),
        Event::Done(3, "null"),
    ];
    put(store, &record(order_1, "order-3", "shop 1", &all));
    put(store, &record(order_1, "order-4", "shop 1", &[]));
    block(store, "shop/order-2", "shop 3", "H201");
    enqueue(store, "shop/order-2", &Event::Done(1, "1300"));
}

fn key(run: &str) -> RunKey {
    run.parse().unwrap()
}

#[test]
fn a_run_is_moved_and_the_next_program_goes_on_with_the_new_one() {
    let world = World::new();
    let store = world.store("data");
    fill(&store);
    store.close().unwrap();
    drop(store);
    let call = |arguments: &[&str]| world.call(program(world.path("data")), arguments).all();
    let told = [
        call(&["migrate", "shop/order-2", "deliver_now", "delivery-2"]),
        call(&["migrate", "order-1", "deliver_now", "delivery-1"]),
        call(&["migrate", "order-1", "deliver_now", "delivery-1"]),
    ];
    insta::assert_snapshot!(told.join("\n"));
    let store = world.store("data");
    let old = store.head(&key("shop/order-2")).unwrap().unwrap();
    assert_eq!((old.status, old.blocked), (Status::Migrated, false));
    let new = store.load(&key("shop/delivery-2")).unwrap().unwrap();
    let Observation::Started(started) = &new.queue[0].observation else {
        panic!("it is to begin")
    };
    assert_eq!(started.input.as_json(), "1300");
    assert_eq!(
        store.attempts(&key("shop/order-2"), 1).unwrap().len(),
        1,
        "what the run was not told is in its operation's record"
    );
    let units = store.history(&key("order-1"), 1, 1, 99).unwrap();
    insta::assert_snapshot!(render(&units, Render::default()));
    store.close().unwrap();
    drop(store);

    let tokio = tokio::runtime::Runtime::new().unwrap();
    tokio.block_on(async {
        let runtime = program(world.path("data")).start().await;
        let client = runtime.as_ref().unwrap().client();
        client
            .run(delivery, "delivery-1")
            .unwrap()
            .result()
            .await
            .unwrap();
        let there = client.in_namespace(Namespace::new("shop").unwrap());
        there
            .run(delivery, "delivery-2")
            .unwrap()
            .result()
            .await
            .unwrap();
    });
}

#[test]
fn what_cannot_be_moved_says_why_and_nothing_is_changed() {
    let world = World::new();
    let of = |arguments: &[&str]| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        fill(&*store);
        let before = store.load(&key("order-4")).unwrap().unwrap().head;
        let arguments = [&["migrate"], arguments].concat();
        let ran = world.call(program(Arc::clone(&store)), &arguments);
        assert_ne!(ran.code, 0);
        assert_eq!(store.load(&key("order-4")).unwrap().unwrap().head, before);
        assert!(store.head(&key("new")).unwrap().is_none());
        ran.all()
    };
    let store = world.store("data");
    let all = [
        of(&["order-4", "deliver_now", "new"]),
        of(&["order-3", "deliver_now", "new"]),
        of(&["order-9", "deliver_now", "new"]),
        of(&["order-1", "deliver_now", "order-4"]),
        of(&["order-1", "deliver_new", "new"]),
        of(&["order-1", "deliver_now", "a new one"]),
        of(&["order-1", "deliver_now", "new", "--store", "@/missing"]),
        of(&["order-1", "deliver_now", "new", "--store", "@/data"]),
    ];
    let process = std::process::id().to_string();
    insta::assert_snapshot!(all.join("\n").replace(&process, "[process]"));
    drop(store);
}
