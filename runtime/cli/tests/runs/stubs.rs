//! What runs wait for from people, and answers to it, of an export and of a store that no program has open.

use perennial::value::Value;
use perennial_runtime::store::{Changes, OfferChange, ProgramRecord, Store};

use crate::export::looked;
use crate::scene::{at, commit, wait};
use crate::world::World;

#[test]
fn what_runs_wait_for_is_listed_with_the_references() {
    let told = [
        &["waiting", "runs.jsonl", "--namespace", "shop"][..],
        &[
            "waiting",
            "runs.jsonl",
            "--namespace",
            "shop",
            "--after",
            "shop/cart-1~4",
        ],
        &["waiting", "runs.jsonl"],
        &["waiting", "runs.jsonl", "--namespace", "shop", "--json"],
    ]
    .map(looked);
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_call_is_answered_once_and_another_value_is_refused() {
    let world = World::with_store("store");
    let fulfil = |value| world.perennial(&["fulfil", "store", "shop/cart-1~4", "review", value]);
    let told = ["true", " true", "false"].map(|value| fulfil(value).all());
    insta::assert_snapshot!(told.join("\n"));
    let none = ["waiting", "store", "--namespace", "shop"];
    let none = world.perennial(&none).succeeded();
    assert_eq!(
        none,
        "no run in the namespace shop has an open call of a stub\n"
    );
    // It has its value, and nobody has told the run.
    let shown = world.perennial(&["show", "store", "shop/cart-1~4"]);
    let shown = shown.succeeded();
    assert!(shown.contains("queue"), "{shown}");
    assert!(shown.contains("the run was not told yet"), "{shown}");
    assert!(!shown.contains("answer it"), "{shown}");
    let shown = world.perennial(&["show", "store", "shop/cart-1"]);
    let shown = shown.succeeded();
    assert!(!shown.contains("perennial fulfil"), "{shown}");
    assert!(
        shown.contains(", and to be told what has come, "),
        "{shown}"
    );
    assert!(shown.contains("stub review"), "{shown}");
    assert!(
        shown.contains("of which the run was not told yet"),
        "{shown}"
    );
}

#[test]
fn rw47_what_is_no_value_for_a_call_is_refused() {
    let world = World::with_store("store");
    let long = format!("\"{}\"", "x".repeat(1 << 20));
    let told = [
        world.perennial(&["fulfil", "store", "cart-1~4", "review", "true"]),
        world.perennial(&[
            "fulfil",
            "store",
            "cart-1~9",
            "review",
            "1",
            "--namespace",
            "shop",
        ]),
        world.perennial(&["fulfil", "store", "shop/cart-1~3", "review", "true"]),
        world.perennial(&["fulfil", "store", "shop/cart-1~4", "revue", "true"]),
        world.with_input(&["fulfil", "store", "shop/cart-1~4", "review", "-"], &long),
        world.perennial(&["fulfil", "store", "shop/cart-1~4", "review", "\"yes\""]),
    ]
    .map(|ran| ran.all());
    insta::assert_snapshot!(told.join("\n"));
    let waiting = ["waiting", "store", "--namespace", "shop"];
    assert!(
        world
            .perennial(&waiting)
            .succeeded()
            .contains("shop/cart-1~4")
    );
}

#[test]
fn a_value_may_come_from_stdin() {
    let world = World::with_store("store");
    let fulfil = [
        "fulfil",
        "store",
        "cart-1~4",
        "review",
        "-",
        "--namespace",
        "shop",
        "--json",
    ];
    let receipt = world.with_input(&fulfil, "\n  true\n").succeeded();
    let receipt: serde_json::Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(receipt["duplicate"], false);
    let shown = world
        .perennial(&["show", "store", "shop/cart-1~4"])
        .succeeded();
    let queued = shown.lines().find(|line| line.contains("queue"));
    assert!(queued.is_some_and(|line| line.contains("true")), "{shown}");
}

#[test]
fn of_what_comes_too_late_that_is_said_whatever_it_says() {
    let world = World::with_store("store");
    let store = world.open("store");
    let limit = OfferChange::Limit {
        operation: 4,
        deadline: at(60),
    };
    let changes = Changes {
        offers: vec![limit],
        stamp: at(4),
        ..Changes::default()
    };
    commit(&store, "shop/cart-1", changes);
    store.close().unwrap();
    for value in ["true", "\"yes\""] {
        let told = world.perennial(&["fulfil", "store", "shop/cart-1~4", "review", value]);
        let told = told.all();
        assert!(told.contains("its run waits no more for it"), "{told}");
    }
}

/// One that calls the stub where its source does not tell, and one of newer software.
#[test]
fn what_another_program_may_take_is_not_refused() {
    let cart = serde_json::json!({ "name": "cart" });
    for (format, workflows) in [(1, vec![cart]), (1_000, Vec::new())] {
        let world = World::with_store("store");
        let store = world.open("store");
        let manifest = serde_json::json!({
            "format": format, "artifact": "sunday", "software": "perennial", "semantics": 1,
            "activities": [], "workflows": workflows,
        });
        let program = ProgramRecord {
            artifact: "sunday".into(),
            manifest: Value::from_json(manifest.to_string()).unwrap(),
            at: at(0),
        };
        wait(|ack| store.record_program(program, ack)).unwrap();
        store.close().unwrap();
        let fulfil = ["fulfil", "store", "shop/cart-1~4", "review", "-"];
        let value = "{\n  \"well\": true\n}\n";
        world.with_input(&fulfil, value).succeeded();
        let shown = world.perennial(&["show", "store", "shop/cart-1~4"]);
        let shown = shown.succeeded();
        assert!(shown.contains(r#"{   "well": true }"#), "{shown}");
    }
}
