//! `unblock`: a run is tried again.

use perennial::RunKey;
use perennial_runtime::Runtime;
use perennial_runtime::store::{MemoryStore, Store};

use crate::shop::{order_1, shop_1};
use crate::world::{Event, World, block, enqueue, put, record};

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
    assert!(!after.head.blocked && after.blocked.is_empty());
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
