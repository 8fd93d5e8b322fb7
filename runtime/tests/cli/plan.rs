//! `plan`: which open runs a program would go on with.

use std::fs;

use perennial_runtime::cli::{self, Plan, PlanOptions};
use perennial_runtime::store::export::export_to;
use perennial_runtime::store::sled::{Salvage, Tamper};
use perennial_runtime::store::{MemoryStore, Store};

use crate::shop::{order_1, order_5, refund, shop_1, shop_2, shop_3, shop_4, shop_5};
use crate::world::{Event, NOW, World, block, enqueue, note, put, record};

/// One run at each place of an order, and a refund.
fn fill(store: &dyn Store) {
    let events = [
        Event::Done(1, "1250"),
        Event::Fired(2),
        Event::Done(3, "null"),
    ];
    for passed in 0..=events.len() {
        let id = format!("order-{passed}");
        put(store, &record(order_1, &id, "shop 1", &events[..passed]));
    }
    put(store, &record(refund, "shop/refund-1", "shop 1", &[]));
    note(store, &shop_1(MemoryStore::new()), 0);
}

/// An export of such a store, with what `more` does to it.
fn exported(more: impl FnOnce(&MemoryStore)) -> World {
    let world = World::new();
    let store = MemoryStore::new();
    fill(&store);
    more(&store);
    export_to(&store, world.path("backup.jsonl"), NOW).unwrap();
    world
}

#[test]
fn a_deploy_that_fits_says_so() {
    let world = exported(|_| {});
    for program in [shop_1, shop_2] {
        let ran = world.call(program(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
        assert_eq!(ran.code, 0, "{}", ran.all());
    }
    let ran = world.call(shop_2(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn a_deploy_that_does_not_fit_names_the_runs_the_errors_and_the_program_that_can_serve_them() {
    let world = exported(|_| {});
    let ran = world.call(shop_3(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn one_is_not_many() {
    let store = MemoryStore::new();
    put(&store, &record(order_1, "order-1", "shop 1", &[]));
    let ran = World::new().call(shop_3(store), &["plan"]).all();
    let end =
        "1 of 1 open run is not covered: deployed as it is, this program would leave it blocked";
    assert!(ran.contains(end), "{ran}");
}

/// Colours and nothing else, also of a plan that was read back.
#[test]
fn for_a_terminal_it_has_the_colours_of_the_errors() {
    let world = exported(|store| {
        let done = [Event::Done(1, "2001")];
        put(store, &record(order_1, "order-9", "shop 1", &done));
    });
    let path = world.path("backup.jsonl");
    for program in [shop_3(MemoryStore::new()), shop_4(MemoryStore::new())] {
        let plan = cli::plan(&program, &path, &PlanOptions::default()).unwrap();
        let back: Plan = serde_json::from_str(&plan.to_json()).unwrap();
        let coloured = plan.coloured();
        assert_eq!(back.coloured(), coloured);
        let is_about_a_history = plan.uncovered.iter().any(|entry| entry.code == "H203");
        assert_eq!(coloured.contains("\u{1b}[31m"), is_about_a_history);
        let mut plain = coloured;
        for code in ["0", "1", "2", "31", "32"] {
            plain = plain.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_eq!(plain, plan.to_string());
    }
}

#[test]
fn the_same_as_json_is_read_back() {
    let world = exported(|_| {});
    let arguments = ["plan", "@/backup.jsonl", "--json"];
    let ran = world.call(shop_3(MemoryStore::new()), &arguments);
    assert_eq!(ran.code, 1);
    let plan: Plan = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((plan.ended, plan.open, plan.covered), (1, 4, 1));
    assert!(!plan.covers_all() && plan.count_uncovered() == 3);
    insta::assert_snapshot!(ran.out);
}

#[test]
fn a_thousand_runs_at_one_place_are_one_entry() {
    let world = exported(|store| {
        for number in 0..1_000 {
            let id = format!("many-{number:03}");
            put(
                store,
                &record(order_1, &id, "shop 1", &[Event::Done(1, "1250")]),
            );
        }
    });
    let arguments = ["plan", "@/backup.jsonl", "--ids", "3"];
    let ran = world.call(shop_3(MemoryStore::new()), &arguments);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn of_two_recorded_programs_the_one_that_can_serve_a_run_is_named() {
    let world = exported(|store| {
        // shop 2 has had the store too, and could not go on with one of them.
        note(store, &shop_2(MemoryStore::new()), 3);
        block(store, "order-1", "shop 2", "H201");
        block(store, "order-2", "shop 1", "H201");
        block(store, "order-2", "shop 2", "H201");
    });
    let ran = world.call(shop_3(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn a_marker_lets_the_next_program_go_on_and_the_one_before_not() {
    let world = exported(|store| {
        note(store, &shop_5(MemoryStore::new()), 3);
        put(store, &record(order_5, "order-9", "shop 5", &[]));
    });
    let ran = world.call(shop_5(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
    assert!(
        ran.code == 0 && ran.out.contains("5 open runs"),
        "{}",
        ran.all()
    );
    let back = world.call(shop_1(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
    insta::assert_snapshot!(back.all());
}

#[test]
fn a_panic_is_the_error_of_its_run() {
    let world = exported(|store| {
        let done = [Event::Done(1, "2001")];
        put(store, &record(order_1, "order-9", "shop 1", &done));
    });
    let ran = world.call(shop_4(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn what_waits_for_a_run_is_looked_at() {
    let world = exported(|store| {
        // Its history fits; what waits for it makes the code panic.
        put(store, &record(order_1, "order-9", "shop 1", &[]));
        enqueue(store, "order-9", &Event::Done(1, "2001"));
    });
    let ran = world.call(shop_4(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
    insta::assert_snapshot!(ran.all());
    let arguments = ["plan", "@/backup.jsonl", "--recorded-only"];
    let ran = world.call(shop_4(MemoryStore::new()), &arguments);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

#[test]
fn runs_that_are_blocked_now_and_fit_are_told() {
    let world = exported(|store| {
        block(store, "order-0", "shop 3", "H201");
        block(store, "order-1", "shop 3", "H201");
    });
    let ran = world.call(shop_2(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn a_program_under_a_name_that_was_found_unfit_covers_nothing() {
    let world = exported(|store| block(store, "order-0", "shop 2", "H201"));
    let ran = world.call(shop_2(MemoryStore::new()), &["plan", "@/backup.jsonl"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn workflows_and_activities_that_are_missing_are_told() {
    let world = exported(|_| {});
    let lacking = perennial_runtime::Runtime::builder(MemoryStore::new())
        .workflow(order_1)
        .activity(crate::shop::charge_card)
        .artifact("shop 5");
    let ran = world.call(lacking, &["plan", "@/backup.jsonl"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn a_folder_of_histories_is_planned_over() {
    let world = World::new();
    for (name, events) in [("a.json", &[][..]), ("b/c.json", &[Event::Done(1, "1250")])] {
        let history = record(order_1, "order-1", "shop 1", events);
        world.write(&format!("stored/{name}"), &history.to_json().unwrap());
    }
    world.write("stored/read.me", "not one of them");
    let fits = world.call(shop_2(MemoryStore::new()), &["plan", "@/stored"]);
    assert_eq!(fits.code, 0, "{}", fits.all());
    let ran = world.call(shop_3(MemoryStore::new()), &["plan", "@/stored"]);
    insta::assert_snapshot!(ran.all());
    let one = world.call(shop_3(MemoryStore::new()), &["plan", "@/stored/a.json"]);
    assert!(
        one.code == 1 && one.out.contains("1 open run;"),
        "{}",
        one.all()
    );
}

#[test]
fn a_store_is_planned_over_as_a_copy_and_stays_as_it_is() {
    let world = World::new();
    let store = world.store("data");
    fill(&store);
    store.close().unwrap();
    drop(store);
    let before = world.bytes("data");
    fs::create_dir(world.path("scratch")).unwrap();
    let arguments = ["plan", "@/data", "--scratch", "@/scratch"];
    let ran = world.call(shop_3(MemoryStore::new()), &arguments);
    insta::assert_snapshot!(ran.all());
    assert!(world.bytes("data") == before, "the store was changed");
    assert!(world.bytes("scratch").is_empty(), "the copy was left");
    let fits = world.call(shop_2(MemoryStore::new()), &["plan", "@/data"]);
    assert_eq!(fits.code, 0, "{}", fits.all());
}

#[test]
fn a_store_of_a_process_that_was_killed_is_planned_over_too() {
    let world = World::new();
    let store = world.store("data");
    fill(&store);
    // Its journal has what sled has not.
    fs::create_dir(world.path("killed")).unwrap();
    for name in ["perennial.state", "journal", "sled"] {
        copy(
            &world.path("data").join(name),
            &world.path("killed").join(name),
        );
    }
    let before = world.bytes("killed");
    let ran = world.call(shop_2(MemoryStore::new()), &["plan", "@/killed"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("4 open runs"), "{}", ran.all());
    assert!(world.bytes("killed") == before, "the store was changed");
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    if from.is_dir() {
        fs::create_dir(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

#[test]
fn a_store_that_is_in_use_is_refused_and_the_programs_own_is_the_default() {
    let world = World::new();
    let store = world.store("data");
    fill(&store);
    let ran = world.call(shop_2(MemoryStore::new()), &["plan", "@/data"]);
    let process = std::process::id().to_string();
    insta::assert_snapshot!(ran.all().replace(&process, "[process]"));
    // One that the program has opened is its own.
    let ran = world.call(shop_2(store), &["plan"]);
    assert!(
        ran.code == 0 && ran.out.contains("4 open runs"),
        "{}",
        ran.all()
    );
}

#[test]
fn a_run_that_is_damaged_is_uncovered_and_the_others_are_planned() {
    let world = World::new();
    let store = world.store("data");
    fill(&store);
    let run = "order-1".parse().unwrap();
    store.tamper(Tamper::FlipUnit(&run, 1, 3)).unwrap();
    store.close().unwrap();
    drop(store);
    let ran = world.call(shop_2(MemoryStore::new()), &["plan", "@/data"]);
    insta::assert_snapshot!(ran.all());
    // A salvage says that not all of it is there.
    let salvage = Salvage::default();
    let (data, export) = (world.path("data"), world.path("salvaged.jsonl"));
    salvage.run(data, export, NOW).unwrap();
    let ran = world.call(shop_2(MemoryStore::new()), &["plan", "@/salvaged.jsonl"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn an_empty_store_stands_against_nothing() {
    let world = World::new();
    let ran = world.call(shop_2(MemoryStore::new()), &["plan"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn of_what_cannot_be_read_nothing_is_said() {
    let world = exported(|_| {});
    let text = fs::read_to_string(world.path("backup.jsonl")).unwrap();
    world.write("changed.jsonl", &text.replacen("1250", "1251", 1));
    let (half, _) = text.split_at(text.len() / 2);
    world.write("half.jsonl", half);
    world.write("other.jsonl", "{\"a\":1}\n");
    world.write("history.json", "{\"run\":");
    fs::create_dir(world.path("empty")).unwrap();
    let names = [
        "changed.jsonl",
        "half.jsonl",
        "other.jsonl",
        "history.json",
        "empty",
        "nothing",
    ];
    let all = names.map(|name| {
        let ran = world.call(shop_3(MemoryStore::new()), &["plan", &format!("@/{name}")]);
        assert_eq!((ran.code, &*ran.out), (1, ""));
        ran.all()
    });
    insta::assert_snapshot!(all.join("\n"));
}
