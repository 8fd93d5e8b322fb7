//! `export` and `import`.

use std::fs;

use perennial_runtime::store::Store as _;

use crate::world::{World, run};

/// An export without its time, and so without its checksums.
fn without_time(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let cut = ["\"at\":", "\"sum\":", "\"sha256\":"]
            .iter()
            .find_map(|field| {
                let last = line.rfind(field)?;
                (!line[last..].contains(',')).then_some(last)
            });
        cut.map_or(line, |cut| &line[..cut]).to_owned() + "\n"
    });
    lines.collect()
}

#[test]
fn what_was_imported_is_exported_again() {
    let world = World::with_everything("data");
    let exported = world.store(&["export", "data", "--to", "one.jsonl"]);
    let imported = world.store(&["import", "one.jsonl", "--to", "copy"]);
    let again = world.store(&["export", "copy", "--to", "two.jsonl"]);
    insta::assert_snapshot!(
        [exported, imported, again]
            .map(|ran| ran.all())
            .join("---\n")
    );
    let [one, two] =
        ["one.jsonl", "two.jsonl"].map(|name| fs::read_to_string(world.path(name)).unwrap());
    assert!(one.lines().count() > 100);
    assert_eq!(without_time(&one), without_time(&two));
    assert_eq!(world.names(), ["copy", "data", "one.jsonl", "two.jsonl"]);
    // The new store goes on where the old one stood.
    let (data, copy) = (world.open("data"), world.open("copy"));
    for name in ["order-42", "shop/cart-1", "shop/cart-2"] {
        assert_eq!(
            data.load(&run(name)).unwrap(),
            copy.load(&run(name)).unwrap()
        );
    }
    assert!(copy.enroll().unwrap() > data.head(&run("order-42")).unwrap().unwrap().owner);
}

#[test]
fn nothing_is_replaced() {
    let world = World::with_everything("data");
    fs::write(world.path("notes.txt"), "milk\n").unwrap();
    world
        .store(&["export", "data", "--to", "one.jsonl"])
        .succeeded();
    let onto_file = world.store(&["export", "data", "--to", "notes.txt"]);
    let onto_store = world.store(&["import", "one.jsonl", "--to", "data"]);
    let salvage = world.store(&["salvage", "data", "--to", "one.jsonl"]);
    insta::assert_snapshot!(
        [onto_file, onto_store, salvage]
            .map(|ran| ran.all())
            .join("---\n")
    );
    assert_eq!(fs::read(world.path("notes.txt")).unwrap(), b"milk\n");
    // An empty folder may become a store.
    fs::create_dir(world.path("empty")).unwrap();
    world
        .store(&["import", "one.jsonl", "--to", "empty/"])
        .succeeded();
    world.store(&["verify", "empty"]).succeeded();
    assert_eq!(world.names(), ["data", "empty", "notes.txt", "one.jsonl"]);
}

#[test]
fn an_export_that_is_cut_short_or_changed_is_refused_and_leaves_nothing() {
    let world = World::with_everything("data");
    world
        .store(&["export", "data", "--to", "one.jsonl"])
        .succeeded();
    let text = fs::read_to_string(world.path("one.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let short = lines[..lines.len() / 2].join("\n") + "\n";
    fs::write(world.path("short.jsonl"), short).unwrap();
    let changed = text.replacen("no answer", "an answer", 1);
    fs::write(world.path("changed.jsonl"), changed).unwrap();
    let missing = text
        .replacen(lines[lines.len() - 3], "", 1)
        .replacen("\n\n", "\n", 1);
    fs::write(world.path("missing.jsonl"), missing).unwrap();
    let before = world.names();
    let mut texts = Vec::new();
    for name in ["short.jsonl", "changed.jsonl", "missing.jsonl"] {
        let imported = world.store(&["import", name, "--to", "copy"]);
        let verified = world.store(&["verify", name]);
        assert_eq!((imported.code, verified.code), (1, 1));
        assert_eq!(imported.error, verified.error);
        texts.push(imported.all());
    }
    insta::assert_snapshot!(texts.join("---\n"));
    assert_eq!(world.names(), before);
}

/// A process that was killed while it imported has left something.
#[test]
fn what_an_import_has_left_is_deleted_by_the_next() {
    let world = World::with_everything("data");
    world
        .store(&["export", "data", "--to", "one.jsonl"])
        .succeeded();
    world.open("copy.importing").close().unwrap();
    world
        .store(&["import", "one.jsonl", "--to", "copy"])
        .succeeded();
    assert_eq!(world.names(), ["copy", "data", "one.jsonl"]);
    // But not what somebody works on, nor what is not ours.
    let other = world.open("other.importing");
    let ran = world.store(&["import", "one.jsonl", "--to", "other"]);
    assert_eq!(ran.code, 1);
    drop(other);
    fs::create_dir(world.path("third.importing")).unwrap();
    fs::write(world.path("third.importing/notes.txt"), "milk\n").unwrap();
    let ran = world.store(&["import", "one.jsonl", "--to", "third"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(world.path("third.importing/notes.txt").exists());
}
