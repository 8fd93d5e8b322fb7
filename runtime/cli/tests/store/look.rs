//! Looking at a store and at an export: `verify` and `stat`.

use std::fs;

use perennial_runtime::store::Store as _;
use perennial_runtime::store::sled::Tamper;

use crate::world::{World, run};

/// Without what depends on the machine: what files take on the disk.
fn without_sizes(text: &str) -> String {
    let mut on_disk = false;
    let lines = text.lines().map(|line| {
        on_disk |= line.trim_start().starts_with("on the disk");
        match line.rsplit_once("  ") {
            Some((name, _)) if on_disk && line.ends_with('B') => {
                format!("{} [size]\n", name.trim_end())
            }
            _ => format!("{line}\n"),
        }
    });
    lines.collect()
}

#[test]
fn a_whole_store_is_counted() {
    let world = World::with_everything("data");
    insta::assert_snapshot!(world.store(&["verify", "data"]).all());
    let ran = world.store(&["stat", "data"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    insta::assert_snapshot!(without_sizes(&ran.out));
    // And it is as it was for those that come after.
    assert!(world.open("data").verify().unwrap().is_whole());
}

#[test]
fn an_export_is_counted_as_the_store_is() {
    let world = World::with_everything("data");
    world
        .store(&["export", "data", "--to", "backup.jsonl"])
        .succeeded();
    insta::assert_snapshot!(world.store(&["verify", "backup.jsonl"]).all());
    let out = world.store(&["stat", "backup.jsonl"]).succeeded();
    let (first, rest) = out.split_once('\n').unwrap();
    assert!(
        first.starts_with("backup.jsonl: an export of 20"),
        "{first}"
    );
    let (rest, size) = rest.rsplit_once("on the disk: ").unwrap();
    assert!(size.ends_with("KiB\n"), "{size}");
    insta::assert_snapshot!(rest);
    let of_store = world.store(&["stat", "data"]).succeeded();
    let runs = |text: &str| {
        let from = text.find("\n  runs").unwrap();
        text[from..][..text[from..].find("due next").unwrap()].to_owned()
    };
    assert_eq!(runs(&of_store), runs(&format!("\n{rest}")));
}

#[test]
fn what_is_damaged_is_named() {
    let world = World::with_everything("data");
    let store = world.open("data");
    store
        .tamper(Tamper::FlipUnit(&run("order-42"), 2, 4))
        .unwrap();
    store.tamper(Tamper::FlipHead(&run("shop/cart-1"))).unwrap();
    store.close().unwrap();
    drop(store);
    let ran = world.store(&["verify", "data"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn a_store_that_is_in_use_is_left_alone() {
    let world = World::with_everything("data");
    let store = world.open("data");
    let process = std::process::id().to_string();
    for arguments in [
        &["verify", "data"][..],
        &["stat", "data"],
        &["export", "data", "--to", "backup.jsonl"],
        &["compact", "data"],
    ] {
        let ran = world.store(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}");
        let text = ran.all().replace(&process, "[process]");
        insta::allow_duplicates! { insta::assert_snapshot!("in_use", text) };
    }
    let ran = world.store(&["salvage", "data", "--to", "backup.jsonl"]);
    insta::assert_snapshot!(ran.all().replace(&process, "[process]"));
    drop(store);
    assert_eq!(world.names(), ["data"]);
}

#[test]
fn where_there_is_no_store_none_is_made() {
    let world = World::new();
    fs::create_dir(world.path("empty")).unwrap();
    fs::write(world.path("notes.txt"), "milk\n").unwrap();
    for (number, arguments) in [
        &["verify", "nothing"][..],
        &["stat", "empty"],
        &["export", "empty", "--to", "backup.jsonl"],
        &["compact", "nothing"],
        &["salvage", "empty", "--to", "backup.jsonl"],
        &["verify", "notes.txt"],
        &["stat", "notes.txt"],
        &["import", "notes.txt", "--to", "data"],
        &["import", "nothing", "--to", "data"],
    ]
    .into_iter()
    .enumerate()
    {
        let ran = world.store(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}");
        insta::assert_snapshot!(format!("nothing_{number}"), ran.all());
    }
    assert_eq!(world.names(), ["empty", "notes.txt"]);
    assert!(fs::read_dir(world.path("empty")).unwrap().next().is_none());
}

#[test]
fn what_is_damaged_as_a_whole_says_what_to_do() {
    let world = World::with_many("data", 3);
    fs::remove_file(world.path("data/sled/db")).unwrap();
    insta::assert_snapshot!(world.store(&["verify", "data"]).all());
}

#[test]
fn each_command_says_what_it_does() {
    let world = World::new();
    let mut texts = vec![world.store(&["--help"]).all()];
    for command in ["verify", "stat", "export", "import", "salvage", "compact"] {
        texts.push(world.store(&[command, "--help"]).all());
    }
    insta::assert_snapshot!(texts.join("\n---\n"));
    assert_eq!(world.store(&["export", "data"]).code, 2);
}
