//! Processes: one at a time, however the one before ended.

use perennial_runtime::store::sled::Tamper;
use perennial_runtime::store::{OpenError, SledStore, Store, StoreError};

use crate::child::{Other, Plot};
use crate::world::{World, begin, commit, commit_of, os, run, sequence, unit, wait};

#[test]
fn a_store_that_another_process_holds_is_refused_with_its_number() {
    let world = World::new();
    let other = Other::start(&world.path(), Plot::Hold);
    let error = world.refusal();
    assert_eq!(
        error,
        OpenError::Held {
            folder: world.path(),
            process: Some(other.id())
        }
    );
    insta::assert_snapshot!(
        world
            .text(&error)
            .replace(&other.id().to_string(), "[process]")
    );
    other.kill();
    world.open();
}

#[test]
fn a_store_is_not_opened_twice_in_one_process() {
    let world = World::new();
    let store = world.open();
    let held = OpenError::Held {
        folder: world.path(),
        process: Some(std::process::id()),
    };
    assert_eq!(world.refusal(), held);
    // The attempt has not disturbed the one that is open.
    begin(&store, &run("order-42"));
    drop(store);
    world.open();
}

#[test]
fn opening_right_after_closing_never_fails() {
    let world = World::new();
    begin(&world.open(), &run("order-42"));
    for round in 1..=15 {
        let store = world.open();
        commit(&store, &run("order-42"), round).unwrap();
        // Whether it is closed or only dropped.
        if round % 2 == 0 {
            store.close().unwrap();
        }
        drop(store);
    }
    assert_eq!(sequence(&world.open(), &run("order-42")), 15);
}

/// Even when the last reference goes in an ack, on the very thread that writes.
#[test]
fn a_store_may_be_dropped_by_an_ack() {
    let world = World::new();
    let store = std::sync::Arc::new(world.open());
    begin(&store, &run("order-42"));
    let (last, dropped) = (
        std::sync::Arc::clone(&store),
        std::sync::mpsc::channel::<()>(),
    );
    let commit = commit_of(&run("order-42"), unit(1));
    let gate = std::sync::Arc::new(std::sync::Barrier::new(2));
    let (here, there) = (std::sync::Arc::clone(&gate), gate);
    let done = dropped.0;
    store.commit(
        commit,
        Box::new(move |result| {
            result.unwrap();
            here.wait();
            drop(last);
            drop(done);
        }),
    );
    drop(store);
    there.wait();
    assert!(dropped.1.recv().is_err());
    // The writer still has to let go; a number in the lock file would be a refusal.
    loop {
        match world.try_open() {
            Ok(store) => break assert_eq!(sequence(&store, &run("order-42")), 1),
            Err(OpenError::Held { .. }) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn an_ack_that_waits_for_the_store_gets_an_error_and_no_deadlock() {
    let world = World::new();
    let store = std::sync::Arc::new(world.open());
    begin(&store, &run("order-42"));
    let inner = std::sync::Arc::clone(&store);
    let answer = wait(|ack| {
        store.commit(
            commit_of(&run("order-42"), unit(1)),
            Box::new(move |_| ack(inner.enroll().map(|_| ()))),
        );
    });
    assert!(matches!(answer, Err(StoreError::Io { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_acknowledged_survives_a_kill() {
    for (plot, commits) in [(Plot::Commit, 40), (Plot::CommitLarge, 3)] {
        let world = World::new();
        let mut acknowledged = 0;
        for _ in 0..4 {
            let mut other = Other::start(&world.path(), plot);
            for _ in 0..commits {
                acknowledged = other.next().unwrap().parse().unwrap();
            }
            acknowledged = other.kill().unwrap_or(acknowledged);
            let store = SledStore::open(world.path()).unwrap_or_else(|error| panic!("{error}"));
            let found = sequence(&store, &run("order-42"));
            assert!(
                found >= acknowledged,
                "{acknowledged} was acknowledged, {found} is there"
            );
            let report = store.verify().unwrap();
            assert_eq!(report.problems, []);
            assert_eq!((report.runs, report.events), (1, found));
            // The copy from before sled looked at it.
            assert!(
                world.file("db.before-recovery").exists()
                    && !world.file("db.under-recovery").exists()
            );
            store.close().unwrap();
        }
    }
}

#[test]
fn a_failed_write_closes_the_store_and_nothing_is_tried_twice() {
    let world = World::with_units(1);
    let store = world.open();
    let run = run("order-42");
    store.tamper(Tamper::FailNextWrite).unwrap();
    let unknown = commit(&store, &run, 2);
    assert!(matches!(unknown, Err(StoreError::Unknown { .. })));
    let closed = commit(&store, &run, 2);
    assert!(matches!(closed, Err(StoreError::Closed { .. })));
    let read = store.load(&run).map(drop);
    assert!(matches!(read, Err(StoreError::Closed { .. })));
    let texts = [unknown, closed, read].map(|result| result.unwrap_err().to_string());
    insta::assert_snapshot!(texts.join("\n---\n"));
    store.close().unwrap();
    drop(store);
    let store = world.open();
    assert_eq!(sequence(&store, &run), 1);
    commit(&store, &run, 2).unwrap();
}

#[test]
fn everything_in_a_drain_that_fails_is_unknown_refusals_included() {
    let world = World::with_units(1);
    let store = world.open();
    let run = run("order-42");
    // All of one drain or of several: each is unknown or comes after one that is.
    store.tamper(Tamper::FailNextWrite).unwrap();
    let (answer, answers) = std::sync::mpsc::channel();
    for (index, number) in [2, 9, 3].into_iter().enumerate() {
        let answer = answer.clone();
        let ack = Box::new(move |result| answer.send((index, result)).unwrap());
        store.commit(commit_of(&run, unit(number)), ack);
    }
    for expected in 0..3 {
        let (index, result) = answers.recv().unwrap();
        assert_eq!(index, expected);
        let error: StoreError = result.unwrap_err();
        let allowed = matches!(error, StoreError::Unknown { .. })
            || index > 0 && matches!(error, StoreError::Closed { .. });
        assert!(allowed, "{error}");
    }
}

/// Each gets it when the one before was killed, and finds what that one was told.
#[cfg(target_os = "linux")]
#[test]
fn of_several_processes_that_want_a_store_one_has_it_until_it_is_killed() {
    const PROCESSES: u64 = 6;
    let world = World::new();
    let (told, tells) = std::sync::mpsc::channel();
    let mut waiting = std::collections::BTreeMap::new();
    for _ in 0..PROCESSES {
        let mut other = Other::begin(&world.path(), Plot::Wait);
        assert_eq!(other.next().as_deref(), Some("waits"));
        let (id, told, (lines, rest)) = (other.id(), told.clone(), other.split());
        std::thread::spawn(move || {
            let mut lines = lines;
            while let Some(line) = lines.next() {
                told.send((id, line)).unwrap();
            }
        });
        waiting.insert(id, rest);
    }
    for number in 1..=PROCESSES {
        let (id, line) = tells.recv().unwrap();
        assert_eq!(line, number.to_string());
        // The others have not got in meanwhile, and the lock names the one that has it.
        let holder = std::fs::read_to_string(world.file("perennial.lock")).unwrap();
        assert_eq!(holder.trim(), id.to_string());
        assert!(tells.try_recv().is_err());
        // Which kills it.
        drop(waiting.remove(&id).unwrap());
    }
    let store = SledStore::open(world.path()).unwrap();
    assert_eq!(sequence(&store, &run("order-42")), PROCESSES);
    assert!(store.verify().unwrap().is_whole());
}

#[test]
fn of_several_threads_that_open_a_store_at_once_one_gets_it() {
    let world = World::new();
    let open = || os().open(world.path());
    let opened: Vec<_> = std::thread::scope(|threads| {
        let opening: Vec<_> = (0..4).map(|_| threads.spawn(open)).collect();
        opening
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(opened.iter().filter(|opened| opened.is_ok()).count(), 1);
    for error in opened.into_iter().filter_map(Result::err) {
        assert!(matches!(error, OpenError::Held { .. }), "{error}");
    }
}
