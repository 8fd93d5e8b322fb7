//! `unblock`: a run is tried again.

use std::sync::Arc;

use perennial::{RunKey, Timestamp};
use perennial_runtime::store::{Changes, MemoryStore, Store, TimerChange};
use perennial_runtime::{Builder, Runtime};

use crate::shop::{charge_card, order_1, order_4, refund, ship, shop_1};
use crate::world::{Event, World, block, change, enqueue, put, record};

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
    block(store, "shop/order-2", "shop 1", "H201");
    block(store, "shop/order-2", "shop 2", "W101");
    enqueue(store, "shop/order-2", &Event::Done(1, "1250"));
}

#[test]
fn the_records_of_a_run_are_cleared_and_nothing_else() {
    let world = World::new();
    let store = world.store("data");
    fill(&store);
    let run: RunKey = "shop/order-2".parse().unwrap();
    let before = store.load(&run).unwrap().unwrap();
    assert_eq!(before.blocked.len(), 2);
    store.close().unwrap();
    drop(store);
    let program = Runtime::builder(world.path("data"))
        .durability(perennial_runtime::store::Durability::Os)
        .workflow(order_1)
        .artifact("shop 1");
    let ran = world.call(program, &["unblock", "shop/order-2"]);
    insta::assert_snapshot!(ran.all());
    let store = world.store("data");
    let after = store.load(&run).unwrap().unwrap();
    // What is left says that it is to be tried.
    let left = after.blocked.iter();
    let left: Vec<_> = left.map(|one| (&*one.code, one.unfit)).collect();
    assert_eq!(left, [("unblocked", false)]);
    assert_eq!((after.queue, after.timers), (before.queue, before.timers));
    assert_eq!(after.head.sequence, before.head.sequence);
}

#[test]
fn what_cannot_be_unblocked_says_why() {
    let world = World::new();
    let of = |arguments: &[&str]| {
        let store = MemoryStore::new();
        fill(&store);
        let arguments = [&["unblock"], arguments].concat();
        let ran = world.call(shop_1(store), &arguments);
        assert_ne!(ran.code, 0);
        ran.all()
    };
    let store = world.store("data");
    let all = [
        of(&["order-1"]),
        of(&["order-2"]),
        of(&["order-3"]),
        of(&["a b"]),
        of(&["order-1", "--store", "@/missing"]),
        of(&["order-1", "--store", "@/data"]),
    ];
    let process = std::process::id().to_string();
    insta::assert_snapshot!(all.join("\n").replace(&process, "[process]"));
    drop(store);
}

/// By the same program, once what it lacked is repaired; and by one that finds something else.
#[tokio::test]
async fn s16_the_next_program_tries_it_at_its_start_whatever_its_timer_says() {
    type Program = fn(Builder) -> Builder;
    let repaired: Program = |builder| builder.workflow(order_1);
    let panics: Program = |builder| builder.workflow(order_4);
    for (program, codes) in [(repaired, &[][..]), (panics, &["W101"])] {
        let world = World::new();
        let places: [Arc<dyn Store>; 2] =
            [Arc::new(MemoryStore::new()), Arc::new(world.store("data"))];
        for store in places {
            let paid = [Event::Done(1, "2500")];
            put(&*store, &record(order_1, "order-1", "shop 1", &paid));
            let timer = TimerChange::Put {
                operation: 2,
                deadline: Timestamp::from_millis(u64::MAX / 2),
            };
            let timers = Changes {
                timers: vec![timer],
                ..Changes::default()
            };
            change(&*store, "order-1", timers);
            block(&*store, "order-1", "shop 1", "H201");
            let builder = || {
                let builder = Runtime::builder(Arc::clone(&store)).artifact("shop 1");
                let activities = builder.activities((charge_card, ship));
                program(activities.workflow(refund)).shards(1)
            };
            let ran = world.call(builder(), &["unblock", "order-1"]);
            assert_eq!(ran.code, 0, "{}", ran.all());

            let runtime = builder().start().await.unwrap();
            // It comes after all that the start has to do.
            let other = runtime.client().start(refund, "refund-1", 1).await;
            other.unwrap().result().await.unwrap();
            let run: RunKey = "order-1".parse().unwrap();
            let found = store.blocked(&run).unwrap();
            let found: Vec<_> = found.iter().map(|one| &*one.code).collect();
            assert_eq!(found, codes);
        }
    }
}
