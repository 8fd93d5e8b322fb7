//! `salvage`, of stores that are damaged in each way that there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use perennial_runtime::store::Store as _;
use perennial_runtime::store::export::{self, Contents};

use crate::world::{Ran, World, bytes, commit, create, run, units};

/// Salvages `data` to `saved.jsonl`, and looks whether something in it was changed.
fn salvage(world: &World, more: &[&str]) -> Ran {
    let before = bytes(&world.path("data"));
    let mut arguments = vec!["salvage", "data", "--to", "saved.jsonl"];
    arguments.extend(more);
    let ran = world.store(&arguments);
    assert!(
        before == bytes(&world.path("data")),
        "something in the folder has changed"
    );
    let left: Vec<_> = world
        .names()
        .into_iter()
        .filter(|name| name.contains("salvage") || name.contains("partial"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    ran
}

fn saved(world: &World) -> Contents {
    Contents::read(export::open(world.path("saved.jsonl")).unwrap()).unwrap()
}

/// What was salvaged can be imported, is whole then, and each run of it is as it was.
fn import(world: &World) {
    world
        .store(&[
            "import",
            "saved.jsonl",
            "--to",
            "saved",
            "--leave-out-partial",
        ])
        .succeeded();
    world.store(&["verify", "saved"]).succeeded();
    let (saved, data) = (world.open("saved"), saved(world));
    for (namespace, runs) in &data.census.namespaces {
        let query = perennial_runtime::store::ListQuery {
            namespace: namespace.clone(),
            limit: 10_000,
            ..Default::default()
        };
        assert_eq!(saved.list(&query).unwrap().runs.len() as u64, *runs);
    }
}

fn db(world: &World) -> PathBuf {
    world.path("data/sled/db")
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// The segments of the journal, in their order.
fn segments(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(world.path("data/journal")).unwrap();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    paths.sort();
    paths
}

/// The beginnings of frames in a segment.
fn frames(path: &Path) -> Vec<usize> {
    let bytes = fs::read(path).unwrap();
    let begins = |at: &usize| bytes[*at..].starts_with(b"PJ\x01");
    (4_096..bytes.len()).step_by(8).filter(begins).collect()
}

#[test]
fn a_whole_store_is_salvaged_as_a_whole() {
    let world = World::with_everything("data");
    let ran = salvage(&world, &[]);
    insta::assert_snapshot!(ran.all());
    world
        .store(&["import", "saved.jsonl", "--to", "saved"])
        .succeeded();
    let (data, saved) = (world.open("data"), world.open("saved"));
    for name in ["order-42", "shop/cart-1", "shop/cart-2"] {
        assert_eq!(
            data.load(&run(name)).unwrap(),
            saved.load(&run(name)).unwrap()
        );
        for generation in [1, 2] {
            let units = |store: &dyn perennial_runtime::store::Store| {
                store.history(&run(name), generation, 1, 99).unwrap()
            };
            assert_eq!(units(&data), units(&saved));
        }
    }
}

/// As the files are at each moment while the program runs: what a kill leaves, and what a power cut does.
#[test]
fn a_store_that_was_killed_is_salvaged_as_a_whole() {
    let world = World::with_many("data", 20);
    let store = world.open("data");
    let order = run("order-42");
    create(&store, &order, None);
    commit(&store, &order, units(1..=7));
    copy(&world.path("data"), &world.path("killed"));
    drop(store);
    fs::remove_dir_all(world.path("data")).unwrap();
    fs::rename(world.path("killed"), world.path("data")).unwrap();
    let out = salvage(&world, &[]).succeeded();
    assert!(
        out.contains("21 runs")
            && out.contains("nothing that was acknowledged is known to be missing")
    );
    import(&world);
    let saved = world.open("saved");
    assert_eq!(saved.head(&order).unwrap().unwrap().sequence, 7);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn a_changed_byte_takes_little_with_it() {
    let world = World::with_many("data", 300);
    let whole = fs::read(db(&world)).unwrap();
    for part in 1..6 {
        change(&db(&world), |bytes| {
            bytes.clone_from(&whole);
            bytes[whole.len() * part / 6] ^= 0x55;
        });
        let ran = salvage(&world, &[]);
        assert!(matches!(ran.code, 0 | 3), "{}", ran.all());
        let saved = saved(&world);
        let lost = 300 - saved.counts.runs;
        assert!(lost < 60, "{}", ran.all());
        let is_lossy = lost > 0 || !saved.partial.is_empty();
        assert!(!is_lossy || ran.code == 3, "{}", ran.all());
        import(&world);
        fs::remove_dir_all(world.path("saved")).unwrap();
        fs::remove_file(world.path("saved.jsonl")).unwrap();
    }
}

#[test]
fn of_a_database_with_many_changed_bytes_something_is_saved() {
    let world = World::with_many("data", 300);
    change(&db(&world), |bytes| {
        for at in (10_000..bytes.len()).step_by(20_000) {
            bytes[at] ^= 0x55;
        }
    });
    let ran = salvage(&world, &[]);
    assert_eq!(ran.code, 3, "{}", ran.all());
    let runs = saved(&world).counts.runs;
    assert!((30..300).contains(&runs), "{}", ran.all());
    import(&world);
}

/// sled opens such a file without a word, and without what was in it.
#[test]
fn of_a_database_that_is_cut_short_the_rest_is_saved() {
    let world = World::with_many("data", 300);
    change(&db(&world), |bytes| bytes.truncate(bytes.len() * 3 / 4));
    let ran = salvage(&world, &[]);
    assert_eq!(ran.code, 3, "{}", ran.all());
    let saved = saved(&world);
    // sled alone decides what stands at the end of its file: a run whose head does not is whole.
    let heads = ran
        .out
        .split("lost: ")
        .find(|line| line.contains(" of 300 heads of runs"));
    let heads = heads.map_or(0, |line| {
        line.split(' ').next().unwrap().parse::<u64>().unwrap()
    });
    assert!(saved.counts.runs + heads > 60, "{}", ran.all());
    let accounted = saved.counts.runs + saved.counts.partial;
    assert!(accounted >= 200, "{}", ran.all());
    assert!(ran.out.contains(" units of histories\n"), "{}", ran.all());
    import(&world);
}

#[test]
fn a_missing_database_is_made_up_for_by_the_journal() {
    let world = World::with_everything("data");
    fs::remove_file(db(&world)).unwrap();
    let ran = salvage(&world, &[]);
    insta::assert_snapshot!(ran.all());
    assert_eq!(saved(&world).counts.runs, 3);
    import(&world);

    // But only as far as it goes back.
    let world = World::with_many("data", 3);
    fs::remove_dir_all(world.path("data/sled")).unwrap();
    let ran = salvage(&world, &[]);
    insta::assert_snapshot!(ran.all());
    import(&world);
}

/// A store whose journal has a frame for each commit: a run of seven events, and one of three in the middle.
fn with_journal() -> World {
    let world = World::with_many("data", 3);
    let store = world.open("data");
    let (order, other) = (run("order-42"), run("other"));
    create(&store, &order, None);
    for number in 1..=4 {
        commit(&store, &order, units(number..=number));
    }
    create(&store, &other, None);
    for number in 5..=7 {
        commit(&store, &order, units(number..=number));
    }
    copy(&world.path("data"), &world.path("killed"));
    drop(store);
    fs::remove_dir_all(world.path("data")).unwrap();
    fs::rename(world.path("killed"), world.path("data")).unwrap();
    world
}

#[test]
fn what_stands_behind_a_broken_frame_is_read() {
    let world = with_journal();
    let segment = segments(&world).pop().unwrap();
    // That of the sixth event.
    let frames = frames(&segment);
    let broken = frames[frames.len() - 2];
    change(&segment, |bytes| bytes[broken + 40] ^= 1);
    let ran = salvage(&world, &[]);
    insta::assert_snapshot!(ran.all());
    let found = saved(&world);
    assert_eq!((found.counts.runs, found.counts.partial), (4, 1));
    // Up to the gap.
    let text = fs::read_to_string(world.path("saved.jsonl")).unwrap();
    let events = text
        .lines()
        .filter(|line| line.contains("order-42") && line.contains("\"unit\""));
    assert_eq!(events.count(), 5);
    let refused = world.store(&["import", "saved.jsonl", "--to", "saved"]);
    insta::assert_snapshot!(refused.all());
    insta::assert_snapshot!(world.store(&["verify", "saved.jsonl"]).all());
    import(&world);
    assert_eq!(world.open("saved").head(&run("order-42")).unwrap(), None);
}

#[test]
fn a_missing_segment_takes_its_commits_alone() {
    let world = with_journal();
    let store = world.open("data");
    commit(&store, &run("order-42"), units(8..=8));
    copy(&world.path("data"), &world.path("killed"));
    drop(store);
    fs::remove_dir_all(world.path("data")).unwrap();
    fs::rename(world.path("killed"), world.path("data")).unwrap();
    let all = segments(&world);
    assert!(all.len() > 1);
    fs::remove_file(&all[all.len() - 2]).unwrap();
    let ran = salvage(&world, &[]);
    insta::assert_snapshot!(ran.all());
    assert_eq!(saved(&world).counts.runs, 3);
    import(&world);
}

#[test]
fn a_journal_that_is_gone_leaves_what_sled_had() {
    let world = with_journal();
    fs::remove_dir_all(world.path("data/journal")).unwrap();
    let ran = salvage(&world, &[]);
    insta::assert_snapshot!(ran.all());
    assert_eq!(saved(&world).counts.runs, 3);
    import(&world);
}

#[test]
fn a_missing_state_file_is_no_loss() {
    for spoil in [false, true] {
        let world = World::with_everything("data");
        let state = world.path("data/perennial.state");
        if spoil {
            change(&state, |bytes| bytes[7] ^= 1);
        } else {
            fs::remove_file(&state).unwrap();
        }
        let ran = salvage(&world, &[]);
        insta::assert_snapshot!(
            format!("state_{}", if spoil { "changed" } else { "missing" }),
            ran.all()
        );
        assert_eq!(saved(&world).counts.runs, 3);
    }
}

/// Made before sled opened it after a crash.
#[test]
fn a_copy_is_read_where_it_gives_more() {
    let world = World::with_many("data", 300);
    fs::copy(db(&world), world.path("data/db.under-recovery")).unwrap();
    change(&db(&world), |bytes| bytes.truncate(bytes.len() / 2));
    let ran = salvage(&world, &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let told = [
        "\nnot used: sled/db",
        "\nread: db.under-recovery, up to commit",
    ];
    assert!(
        told.iter().all(|told| ran.out.contains(told)),
        "{}",
        ran.all()
    );
    assert_eq!(saved(&world).counts.runs, 300);
    // Which can be chosen otherwise.
    fs::remove_file(world.path("saved.jsonl")).unwrap();
    let ran = salvage(&world, &["--from", "sled/db"]);
    assert_eq!(ran.code, 3);
    assert!(saved(&world).counts.runs < 300);
    fs::remove_file(world.path("saved.jsonl")).unwrap();
    let ran = salvage(&world, &["--from", "db.before-recovery"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn nothing_is_written_into_the_folder() {
    let world = World::with_everything("data");
    fs::create_dir(world.path("scratch")).unwrap();
    let into = world.store(&["salvage", "data", "--to", "data/saved.jsonl"]);
    let scratch = salvage(&world, &["--scratch", "data/sled"]);
    insta::assert_snapshot!([into, scratch].map(|ran| ran.all()).join("---\n"));
    salvage(&world, &["--scratch", "scratch"]).succeeded();
    assert_eq!(world.names(), ["data", "saved.jsonl", "scratch"]);
    assert!(
        fs::read_dir(world.path("scratch"))
            .unwrap()
            .next()
            .is_none()
    );
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Whatever is done to the files: nothing comes out of a salvage that was never written.
#[test]
fn what_is_salvaged_was_written() {
    let world = with_journal();
    let whole = world.path("whole");
    copy(&world.path("data"), &whole);
    let is_unit = |line: &&str| line.contains("\"unit\":");
    let out = salvage(&world, &[]).succeeded();
    assert!(out.contains("5 runs"), "{out}");
    let text = fs::read_to_string(world.path("saved.jsonl")).unwrap();
    let written: BTreeSet<&str> = text.lines().filter(is_unit).collect();
    assert_eq!(written.len(), 37);
    let mut numbers = Numbers(11);
    let mut lossy = 0;
    for round in 0..16 {
        let mut only_sled = true;
        fs::remove_file(world.path("saved.jsonl")).unwrap();
        fs::remove_dir_all(world.path("data")).unwrap();
        copy(&whole, &world.path("data"));
        let files: Vec<_> = bytes(&world.path("data"))
            .into_iter()
            .filter(|(path, bytes)| !bytes.is_empty() && !path.ends_with("perennial.lock"))
            .collect();
        for _ in 0..1 + round % 4 {
            let (path, bytes) = &files[numbers.below(files.len())];
            let at = numbers.below(bytes.len());
            only_sled &= path.starts_with(world.path("data/sled"));
            let _ = match numbers.below(4) {
                0 => fs::remove_file(path),
                1 => fs::write(path, &bytes[..at]),
                kind => {
                    let mut changed = bytes.clone();
                    let length = if kind == 2 { 1 } else { 20_000 };
                    let end = (at + length).min(changed.len());
                    changed[at..end].fill(0x55);
                    fs::write(path, changed)
                }
            };
        }
        let ran = salvage(&world, &[]);
        assert!(matches!(ran.code, 0 | 3), "round {round}: {}", ran.all());
        lossy += usize::from(ran.code == 3);
        let text = fs::read_to_string(world.path("saved.jsonl")).unwrap();
        for line in text.lines().filter(is_unit) {
            assert!(written.contains(line), "round {round}: {line}");
        }
        // Of the end of a journal nobody can tell for sure whether there was more.
        if ran.code == 0 && only_sled {
            assert_eq!(text.lines().filter(is_unit).count(), 37, "round {round}");
        }
        import(&world);
        fs::remove_dir_all(world.path("saved")).unwrap();
    }
    assert!((2..16).contains(&lossy), "{lossy}");
}
