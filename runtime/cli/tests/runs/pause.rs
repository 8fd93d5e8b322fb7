//! Pausing runs and letting them go on, in a store that no program has open. In a program: see `program`.

use perennial_runtime::store::Store as _;

use crate::world::World;

#[test]
fn m45_a_run_of_a_stopped_store_is_paused_and_goes_on() {
    let world = World::with_store("store");
    let told = [
        &["pause", "store", "order-42"][..],
        &["pause", "store", "order-42"],
        &["list", "store", "--prefix", "order-42"],
        &["show", "store", "order-42"],
        &["pause", "store", "shop/cart-1", "--json"],
        &["show", "store", "shop/cart-1"],
        &["resume", "store", "order-42"],
        &["resume", "store", "order-42"],
    ]
    .map(|arguments| {
        let ran = world.perennial(arguments).all();
        // The time of the pause, where it is JSON.
        let lines = ran.lines().map(|line| match line.split_once("\"at\": ") {
            Some((before, _)) => format!("{before}\"at\": [millis],"),
            None => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    });
    insta::assert_snapshot!(told.join("\n"));
    let store = world.open("store");
    let paused = |run: &str| {
        let head = store.head(&run.parse().unwrap()).unwrap().unwrap();
        head.paused.is_some()
    };
    assert_eq!((paused("order-42"), paused("shop/cart-1")), (false, true));
}

#[test]
fn m45_a_paused_run_is_so_in_an_export_and_in_the_store_that_is_made_of_it() {
    let world = World::with_store("store");
    world.perennial(&["pause", "store", "order-42"]).succeeded();
    world
        .perennial(&["send", "store", "order-42", "payment", "1"])
        .succeeded();
    let export = ["store", "export", "store", "--to", "runs.jsonl"];
    world.perennial(&export).succeeded();
    let listed = world
        .perennial(&["list", "runs.jsonl", "--state", "paused"])
        .succeeded();
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("running, paused"), "{listed}");
    world
        .perennial(&["store", "import", "runs.jsonl", "--to", "other"])
        .succeeded();
    world.perennial(&["store", "verify", "other"]).succeeded();
    let resumed = world
        .perennial(&["resume", "other", "order-42"])
        .succeeded();
    assert!(resumed.contains("it was paused since"), "{resumed}");
    // What is left of a store that is damaged has it too.
    world
        .perennial(&["store", "salvage", "store", "--to", "left.jsonl"])
        .succeeded();
    let listed = world.perennial(&["list", "left.jsonl"]).succeeded();
    assert!(listed.contains("running, paused"), "{listed}");
}

#[test]
fn what_cannot_be_paused_says_so() {
    let world = World::with_store("store");
    let export = ["store", "export", "store", "--to", "runs.jsonl"];
    world.perennial(&export).succeeded();
    let told = [
        &["pause", "store", "order-1"][..],
        &["resume", "store", "order-1"],
        &["pause", "store", "order-43"],
        &["resume", "store", "order-43"],
        &["pause", "runs.jsonl", "order-42"],
        &["resume", "runs.jsonl", "order-42"],
        &["pause", "store", "an order"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
}
