//! Files: the synchronous attribute, what stands beside sled's, and what must never arise.

use std::fs;
use std::path::Path;

use perennial_runtime::store::{Changes, Commit, OpenError, SledStore, Store, Task, TaskChange};

use crate::world::{World, begin, commit, commit_of, large_unit, os, run, wait};

/// Everything in a folder.
fn everything(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(everything(&path))
        } else {
            found.push(path)
        }
    }
    found
}

#[cfg(target_os = "linux")]
fn synchronous(path: &Path) -> bool {
    let flags = rustix::fs::ioctl_getflags(fs::File::open(path).unwrap()).unwrap();
    flags.contains(rustix::fs::IFlags::SYNC)
}

#[cfg(target_os = "linux")]
#[test]
fn every_file_of_sled_has_the_synchronous_attribute() {
    let world = World::new();
    let store = SledStore::open(world.path()).unwrap();
    begin(&store, &run("order-42"));
    let files = everything(&world.file("sled"));
    assert!(files.contains(&world.file("sled/db")));
    assert!(files.iter().all(|file| synchronous(file)), "{files:?}");
    store.close().unwrap();
    drop(store);

    // Files that lost it, as those from a backup do, get it again.
    let db = fs::read(world.file("sled/db")).unwrap();
    fs::remove_file(world.file("sled/db")).unwrap();
    let sled = fs::File::open(world.file("sled")).unwrap();
    let flags = rustix::fs::ioctl_getflags(&sled).unwrap();
    rustix::fs::ioctl_setflags(&sled, flags - rustix::fs::IFlags::SYNC).unwrap();
    fs::write(world.file("sled/db"), db).unwrap();
    assert!(!synchronous(&world.file("sled/db")));
    let store = SledStore::open(world.path()).unwrap();
    assert!(
        everything(&world.file("sled"))
            .iter()
            .all(|file| synchronous(file))
    );
    drop(store);

    // Also for those who need not have it: a power cut then takes the last commits and no more.
    let other = World::new();
    let store = other.open();
    assert!(
        everything(&other.file("sled"))
            .iter()
            .all(|file| synchronous(file))
    );
    drop(store);
}

/// A file system in memory has no device to be synchronous with.
#[cfg(target_os = "linux")]
#[test]
fn where_the_attribute_cannot_be_had_sync_is_refused() {
    let Ok(shm) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let folder = shm.path().join("store");
    let error = match SledStore::open(&folder) {
        Ok(_) => return, // It has learned it.
        Err(error) => error,
    };
    assert!(matches!(error, OpenError::NoSync { .. }));
    insta::assert_snapshot!(
        error
            .to_string()
            .replace(&*folder.to_string_lossy(), "[store]")
    );
    assert!(!folder.exists(), "something was left behind");

    // `Os` is what can be promised there.
    let store = os().open(&folder).unwrap();
    begin(&store, &run("order-42"));
    drop(store);
    assert!(matches!(
        SledStore::open(&folder),
        Err(OpenError::NoSync { .. })
    ));
    assert!(
        os().open(&folder)
            .unwrap()
            .load(&run("order-42"))
            .unwrap()
            .is_some()
    );
}

#[cfg(not(target_os = "linux"))]
#[test]
fn sync_is_refused_on_this_system() {
    let world = World::new();
    assert!(matches!(
        SledStore::open(world.path()),
        Err(OpenError::NoSync { .. })
    ));
    world.open();
}

/// Sled writes long values into files that it never syncs.
#[test]
fn no_file_of_long_values_ever_arises() {
    let world = World::new();
    let store = world.open();
    let run = run("order-42");
    begin(&store, &run);
    let mut number = 1;
    for bytes in [6_000, 130_000, 131_072, 600_000, 1 << 20] {
        wait(|ack| store.commit(commit_of(&run, large_unit(number, bytes)), ack)).unwrap();
        number += 2;
    }
    let task = |operation| {
        TaskChange::Put(Task {
            operation,
            unit: 1,
            name: "charge".repeat(100),
            options: perennial::ActivityOptions::new(perennial::Class::Pure),
            attempt: 1,
            generation: 1,
            lost: 0,
            started: None,
            not_before: perennial::Timestamp::default(),
            scheduled: perennial::Timestamp::default(),
            last_failure: Some("x".repeat(5_000)),
        })
    };
    let changes = Changes {
        tasks: (0..300).map(task).collect(),
        ..Changes::default()
    };
    let many = Commit {
        sequence: number - 1,
        changes,
        ..commit_of(&run, large_unit(number, 10))
    };
    wait(|ack| store.commit(many, ack)).unwrap();
    assert_eq!(store.verify().unwrap().problems, []);
    drop(store);
    let store = world.open();
    assert_eq!(store.load(&run).unwrap().unwrap().tasks.len(), 300);
    assert_eq!(everything(&world.file("sled/blobs")).len(), 1);
}

#[test]
fn a_half_written_snapshot_is_deleted() {
    let world = World::with_units(3);
    let half = world.file("sled/snap.0000000000000AAA.generating");
    fs::write(&half, b"half").unwrap();
    let store = world.open();
    assert!(!half.exists());
    commit(&store, &run("order-42"), 4).unwrap();
}

#[test]
fn a_copy_is_made_after_a_stop_without_closing_and_only_then() {
    let world = World::with_units(3);
    drop(world.open());
    assert!(!world.file("db.before-recovery").exists());

    // What a power cut would leave: the files as they are while the store is open.
    let cut = World::new();
    let store = world.open();
    commit(&store, &run("order-42"), 4).unwrap();
    crate::world::copy(&world.path(), &cut.path());
    drop(store);
    let before = fs::read(cut.file("sled/db")).unwrap();
    let store = cut.open();
    assert_eq!(fs::read(cut.file("db.before-recovery")).unwrap(), before);
    assert_eq!(crate::world::sequence(&store, &run("order-42")), 4);
}
