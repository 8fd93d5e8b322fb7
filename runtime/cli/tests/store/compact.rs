//! `compact`, and what a kill in the middle of it leaves.

use std::fs;
use std::process::Stdio;

use perennial_runtime::store::Store as _;
use perennial_runtime::store::{Keep, Progress, Purge};

use crate::world::{World, run, wait};

/// A store with much that is gone.
fn with_garbage(world: &World) {
    let store = world.open("data");
    for number in 0..300 {
        let run = run(&format!("run-{number:04}"));
        if number % 10 == 0 {
            continue;
        }
        let head = store.head(&run).unwrap().unwrap();
        let purge = Purge {
            run,
            generation: head.generation,
            sequence: head.sequence,
            keep: Keep::Nothing,
            at: head.stamp,
            limit: 100,
        };
        while wait(|ack| store.purge(purge.clone(), ack)).unwrap() == Progress::More {}
    }
    store.close().unwrap();
}

fn verified(world: &World) -> String {
    let out = world.store(&["verify", "data"]).succeeded();
    // The number of records is that of what is alive, whichever store it is.
    assert!(out.contains("30 runs, 30 generations"), "{out}");
    out
}

#[test]
fn a_compacted_store_holds_the_same_in_less_space() {
    let world = World::with_many("data", 300);
    with_garbage(&world);
    world
        .store(&["export", "data", "--to", "before.jsonl"])
        .succeeded();
    let out = world.store(&["compact", "data"]).succeeded();
    let (before, rest) = out.split_once(" before, ").unwrap();
    let before = before.rsplit(": ").next().unwrap();
    let (after, rest) = rest.split_once(" now; ").unwrap();
    let mib = |text: &str| text.strip_suffix(" MiB").unwrap().parse::<f64>().unwrap();
    assert!(mib(after) < mib(before), "{out}");
    insta::assert_snapshot!(rest);
    verified(&world);
    assert_eq!(
        world.names(),
        ["before.jsonl", "data", "data.before-compact"]
    );
    // The old one is whole, too.
    world.store(&["verify", "data.before-compact"]).succeeded();

    // It does not take the place of the one before.
    let again = world.store(&["compact", "data"]);
    insta::assert_snapshot!(again.all());
    fs::remove_dir_all(world.path("data.before-compact")).unwrap();
    let out = world
        .store(&["compact", "data/", "--discard-old"])
        .succeeded();
    assert!(out.ends_with("the old store was deleted\n"), "{out}");
    verified(&world);
    assert_eq!(world.names(), ["before.jsonl", "data"]);
}

/// Through a link the store itself is compacted, not the link.
#[test]
#[cfg(unix)]
fn a_link_stays_a_link() {
    let world = World::with_many("data", 3);
    std::os::unix::fs::symlink("data", world.path("link")).unwrap();
    world
        .store(&["compact", "link", "--discard-old"])
        .succeeded();
    assert!(
        fs::symlink_metadata(world.path("link"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(world.names(), ["data", "link"]);
    world.store(&["verify", "link"]).succeeded();
}

/// As soon as something with this name is there, and at other moments that chance chooses.
#[test]
#[cfg(target_os = "linux")]
fn a_kill_at_any_point_leaves_the_store_whole() {
    let world = World::with_many("data", 300);
    with_garbage(&world);
    for (round, name) in [
        "data.compacting",
        "data.compacting/perennial.state",
        "data.compacting/sled/db",
        "data.before-compact",
        "data.discarded",
    ]
    .into_iter()
    .cycle()
    .take(10)
    .enumerate()
    {
        let mut process = world
            .command(&["compact", "data", "--discard-old"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let path = world.path(name);
        while !path.exists() && process.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        for _ in 0..round * 20 {
            std::thread::yield_now();
        }
        process.kill().unwrap();
        process.wait().unwrap();
        verified(&world);
        // Where both have their names, both are whole.
        if world.path("data.before-compact").exists() {
            world.store(&["verify", "data.before-compact"]).succeeded();
            fs::remove_dir_all(world.path("data.before-compact")).unwrap();
        }
    }
    // What is left does not stand in the way.
    world
        .store(&["compact", "data", "--discard-old"])
        .succeeded();
    verified(&world);
    assert_eq!(world.names(), ["data"]);
}
