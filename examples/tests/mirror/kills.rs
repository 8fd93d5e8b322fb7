//! Killed at any moment, it goes on where it was.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt as _, symlink};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use perennial::history::{Decision, Observation};
use perennial::{Namespace, RunKey};
use perennial_examples::mirror::{Copied, HashedFile, Plan};
use perennial_runtime::store::{ListQuery, SledStore, Store as _};

use crate::world::{World, tree};

/// A name that is long, so that what is said of a few files fills the pipe: the program then waits for its
/// reader, and is where the test thinks it is.
fn name(n: usize) -> String {
    format!("{}/{n:04}-{}", n / 100, "long-".repeat(35))
}

fn many_files(world: &World, count: usize) {
    for n in 0..count {
        world.write(name(n), format!("{n} ").repeat(n));
    }
    // More than a batch takes.
    world.write("large", vec![7; 9 << 20]);
}

/// The files whose copies the history records.
fn recorded(world: &World) -> BTreeSet<String> {
    let store = SledStore::open(world.path("store")).unwrap();
    let mut copies = BTreeSet::new();
    for (id, head) in store
        .list(&ListQuery {
            limit: 10,
            ..ListQuery::default()
        })
        .unwrap()
        .runs
    {
        let run = RunKey::new(Namespace::default(), id);
        let units = store.history(&run, head.generation, 1, 100_000).unwrap();
        let mut scheduled = std::collections::BTreeMap::new();
        for unit in &units {
            if let Observation::ActivityCompleted { operation, result } = &unit.observation
                && let Some(input) = scheduled.get(operation)
            {
                let (_, files): (Plan, Vec<HashedFile>) =
                    perennial::value::Value::decode(input).unwrap();
                let done: Copied = result.decode().unwrap();
                assert!(done.changed.is_empty() && done.skipped.is_empty());
                copies.extend(files.into_iter().map(|hashed| hashed.file.path.to_string()));
            }
            for decision in &unit.decisions {
                if let Decision::ActivityScheduled {
                    operation,
                    name,
                    input,
                    ..
                } = decision
                    && name == "copy_files"
                {
                    scheduled.insert(*operation, input.clone());
                }
            }
        }
    }
    store.close().unwrap();
    copies
}

#[test]
fn killed_again_and_again_it_copies_nothing_twice_that_was_recorded() {
    const KILLS: usize = 24;
    let world = World::new();
    many_files(&world, 2_500);
    let source = tree(&world.source());
    let mut marks = Vec::new();
    for kill in 0..KILLS {
        let mut running = world.start();
        // From the very first line to deep in the middle, and at each kind of step. Now and then it lives
        // long enough for some batches to be recorded: eight of them say less than so many lines.
        let lines = if kill % 5 == 4 {
            600
        } else {
            (kill * kill) % 97 + kill / 3
        };
        for _ in 0..lines {
            running.line();
        }
        if let Some(step) = ["hashed", "copying", "copied"].get(kill % 4) {
            running.until(step);
        }
        assert!(
            running.kill(),
            "the tree is too small: kill {kill} came too late"
        );

        // Under its final name nothing is ever half there.
        for (path, what) in tree_if_there(&world) {
            let is_part = String::from_utf8_lossy(&path).contains("/.mirror-");
            if what.starts_with("file") && !is_part {
                assert_eq!(source.get(&path), Some(&what), "after kill {kill}");
            }
        }
        marks.push((world.log().len(), recorded(&world)));
    }
    let said = world.mirror(&[]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(source, tree(&world.target()));

    let log = world.log();
    for (at, recorded) in &marks {
        for line in &log[*at..] {
            let path = line.strip_prefix("copied ").unwrap();
            assert!(
                !recorded.contains(path),
                "{path} was recorded, and copied again"
            );
        }
    }
    let (_, last) = marks.last().unwrap();
    assert!(
        !last.is_empty(),
        "something was recorded before the last kill"
    );
    assert!(
        said.err.contains(&format!(
            "{} files are recorded as copied",
            indicatif::HumanCount(last.len() as u64)
        )),
        "{}",
        said.err
    );
    assert!(
        said.out.contains("recorded before it began"),
        "{}",
        said.out
    );
}

fn tree_if_there(world: &World) -> std::collections::BTreeMap<Vec<u8>, String> {
    if world.target().exists() {
        tree(&world.target())
    } else {
        Default::default()
    }
}

#[test]
fn interrupted_it_ends_what_is_under_way_and_says_how_to_go_on() {
    let world = World::new();
    many_files(&world, 600);
    let mut running = world.start();
    running.until("copied");
    running.interrupt();
    let (said, code) = running.end();
    assert_eq!(code, Some(130), "{said}");
    let asides = ["interrupted", "start the same"];
    let asides: Vec<&str> = said
        .lines()
        .filter(|line| asides.iter().any(|aside| line.starts_with(aside)))
        .collect();
    insta::assert_snapshot!("interrupted", asides.join("\n"));
    let copied: BTreeSet<String> = world
        .log()
        .iter()
        .map(|line| line["copied ".len()..].to_owned())
        .collect();
    assert_eq!(recorded(&world), copied, "all that was done is recorded");
    assert_eq!(world.mirror(&[]).code, Some(0));
    assert_eq!(world.log().len(), 601, "nothing was done twice");
    assert_eq!(tree(&world.source()), tree(&world.target()));
}

#[test]
fn what_is_not_any_more_what_was_listed_is_skipped_with_its_reason() {
    let world = World::new();
    many_files(&world, 600);
    for name in [
        "x/1-gone",
        "x/2-folder",
        "x/3-link",
        "x/4-pipe",
        "x/5-grown",
        "y/6-gone-with-its-folder",
    ] {
        world.write(name, name);
    }
    let mut running = world.start();
    // All is listed and recorded before anything is hashed; and while nobody reads what is said, the program
    // cannot come to the last batch.
    running.until("hashed");
    assert!(running.kill());
    assert!(
        recorded(&world)
            .iter()
            .all(|path| !path.starts_with(['x', 'y']))
    );
    let path = |name: &str| world.source().join("x").join(name);
    for name in ["1-gone", "2-folder", "3-link", "4-pipe"] {
        fs::remove_file(path(name)).unwrap();
    }
    fs::create_dir(path("2-folder")).unwrap();
    symlink("/etc/passwd", path("3-link")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(path("4-pipe"))
            .status()
            .unwrap()
            .success()
    );
    fs::write(path("5-grown"), "grown since it was listed").unwrap();
    fs::remove_dir_all(world.source().join("y")).unwrap();
    let said = world.mirror(&[]);
    assert_eq!(said.code, Some(3), "{}", said.err);
    let skipped = said.out.split_once("  skipped").unwrap().1;
    insta::assert_snapshot!("not_what_was_listed", skipped);
    assert_eq!(
        fs::read_to_string(world.target().join("x/5-grown")).unwrap(),
        "grown since it was listed"
    );
    for name in ["1-gone", "2-folder", "3-link", "4-pipe"] {
        assert!(!world.target().join("x").join(name).exists(), "{name}");
    }
}

#[test]
fn a_file_that_never_stands_still_is_given_up_and_the_others_are_not() {
    let world = World::new();
    world.write("still", "stands still");
    // Large, so that the writer gets its turn while it is copied, whatever else the machine does.
    world.write("log.txt", vec![b'.'; 48 << 20]);
    let stop = AtomicBool::new(false);
    let said = std::thread::scope(|scope| {
        scope.spawn(|| {
            let log = fs::OpenOptions::new()
                .write(true)
                .open(world.source().join("log.txt"))
                .unwrap();
            for n in 0_u64.. {
                // Not by its size alone does one see that it is another.
                log.write_all_at(&n.to_be_bytes(), 0).unwrap();
                log.set_modified(UNIX_EPOCH + Duration::from_nanos(n))
                    .unwrap();
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let said = world.mirror(&[]);
        stop.store(true, Ordering::Relaxed);
        said
    });
    assert_eq!(said.code, Some(3), "{}", said.err);
    insta::assert_snapshot!("changed_meanwhile", said.out);
    let names = fs::read_dir(world.target())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert_eq!(
        names.filter(|name| name != ".mirror").collect::<Vec<_>>(),
        ["still"],
        "no part is left"
    );
    let again = world.mirror(&["--again"]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert_eq!(tree(&world.source()), tree(&world.target()));
}

#[test]
fn another_run_of_the_same_store_goes_on_beside_it() {
    let world = World::new();
    many_files(&world, 600);
    let mut running = world.start();
    running.until("copied");
    assert!(running.kill());
    fs::create_dir(world.path("small")).unwrap();
    fs::write(world.path("small/file"), "small").unwrap();
    let mut command = world.command();
    command
        .args([world.path("small"), world.path("small.mirror")])
        .arg("--store")
        .arg(world.path("store"));
    let said = world.said(&mut command);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.err
            .contains("run mirror-[digest] of the same store goes on beside it"),
        "{}",
        said.err
    );
    assert!(
        said.out.contains("copied by this process    1 file, 5 B"),
        "{}",
        said.out
    );
    assert_eq!(world.mirror(&[]).code, Some(0));
    assert_eq!(tree(&world.source()), tree(&world.target()));
}
