//! That nothing is left in the folder of what was purged or given up, and that no opening misses it.

use perennial::history::{Observation, Told};
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use perennial_runtime::store::sled::Report;
use perennial_runtime::store::{
    AttemptOutcome, AttemptRecord, BlockedChange, BlockedRecord, Changes, Commit, Deliver, Keep,
    KeyRecord, Progress, Purge, Restore, SendKey, SledStore, Status, Store, TimerChange,
};

use crate::world::{World, begin, commit, commit_of, large_unit, run, sequence, unit, wait};

fn at(milliseconds: u64) -> Timestamp {
    Timestamp::from_millis(milliseconds)
}

fn whole(store: &SledStore) -> Report {
    let report = store.verify().unwrap();
    assert!(report.is_whole(), "{report:?}");
    report
}

/// What is in the folder, when sled has all of it. It says so in a record of its own.
fn settled(world: &World, store: SledStore) -> (SledStore, Report) {
    store.close().unwrap();
    drop(store);
    let store = world.open();
    let report = whole(&store);
    (store, report)
}

/// A finished run with something of every kind, most of it too long for one value.
fn full(store: &SledStore, key: &RunKey) -> u64 {
    begin(store, key);
    for number in 1..=20 {
        let unit = large_unit(2 * number - 1, 40_000);
        wait(|ack| store.commit(commit_of(key, unit), ack)).unwrap();
    }
    let text = "x".repeat(9_000);
    let attempt = |operation| AttemptRecord {
        operation,
        attempt: 1,
        outcome: AttemptOutcome::Failed {
            error: text.clone(),
        },
        at: at(1),
    };
    let timer = |operation| TimerChange::Put {
        operation,
        deadline: at(operation),
    };
    let result = Value::encode(&text).unwrap();
    let row = |operation| Observation::ActivityCompleted {
        operation,
        result: result.clone(),
    };
    let blocked = BlockedRecord {
        artifact: "one".into(),
        unfit: false,
        code: "PR001".into(),
        text: text.clone(),
        details: result.clone(),
        at: at(1),
    };
    for number in 0..70 {
        wait(|ack| store.deliver(keyed(key, number), ack)).unwrap();
    }
    let sequence = sequence(store, key);
    let commit = Commit {
        sequence,
        changes: Changes {
            units: vec![unit(sequence + 1)],
            attempts: (1..=9).map(attempt).collect(),
            timers: (1..=300).map(timer).collect(),
            enqueue: (1..=9).map(row).collect(),
            blocked: Some(BlockedChange::Put(blocked)),
            status: Some(Status::Completed),
            ..Changes::default()
        },
        ..commit_of(key, unit(1))
    };
    wait(|ack| store.commit(commit, ack)).unwrap();
    sequence + 1
}

fn keyed(run: &RunKey, number: u64) -> Deliver {
    let told = Told {
        number: 0,
        name: "approval".into(),
        payload: Value::null(),
        key: Some(format!("key-{number}")),
    };
    let digest = told.payload.digest();
    Deliver {
        run: run.clone(),
        observation: Observation::MessageArrived(told),
        at: at(5),
        tasks: Vec::new(),
        key: Some(SendKey {
            key: format!("key-{number}"),
            at: at(5),
            digest,
        }),
        stub: None,
    }
}

fn purge(key: &RunKey, sequence: u64, keep: Keep) -> Purge {
    Purge {
        run: key.clone(),
        generation: 1,
        sequence,
        keep,
        at: at(9),
        limit: 30,
    }
}

#[test]
fn a_purged_run_leaves_no_record_behind() {
    let world = World::new();
    let store = world.open();
    begin(&store, &run("other"));
    let (store, before) = settled(&world, store);
    let key = run("order-42");
    let last = full(&store, &key);
    assert!(whole(&store).records > before.records + 500);
    let slice = purge(&key, last, Keep::Nothing);
    let mut slices = 0;
    while wait(|ack| store.purge(slice.clone(), ack)).unwrap() == Progress::More {
        slices += 1;
        whole(&store);
    }
    assert!(slices > 9, "{slices}");
    assert_eq!(settled(&world, store).1, before);
}

/// Whether sled has it already or the journal alone, and in the middle of a purge as well.
#[test]
fn no_opening_misses_what_was_purged() {
    let world = World::new();
    let key = run("order-42");
    let mut store = world.open();
    let last = full(&store, &key);
    let reopened = |store: &mut SledStore| {
        store.close().unwrap();
        *store = world.open();
        whole(store);
    };
    reopened(&mut store);
    let slice = purge(&key, last, Keep::Nothing);
    while wait(|ack| store.purge(slice.clone(), ack)).unwrap() == Progress::More {
        reopened(&mut store);
    }
    reopened(&mut store);
    assert_eq!(store.head(&key).unwrap(), None);
    // Its name is free.
    begin(&store, &key);
    commit(&store, &key, 1).unwrap();
    reopened(&mut store);
    assert_eq!(sequence(&store, &key), 1);
}

#[test]
fn a_restore_that_was_given_up_leaves_no_record_behind() {
    let world = World::new();
    let store = world.open();
    begin(&store, &run("other"));
    let (store, before) = settled(&world, store);
    let part = Restore::History {
        run: run("order-42"),
        generation: 1,
        units: (0..80).map(|n| large_unit(2 * n + 1, 90_000)).collect(),
        attempts: Vec::new(),
        end: Some(160),
    };
    wait(|ack| store.restore(part, ack)).unwrap();
    let key = |number: u64| KeyRecord {
        key: format!("key-{number}"),
        digest: Value::null().digest(),
        name: "approval".into(),
        arrival: number,
        event: None,
        at: at(5),
        sent: at(5),
    };
    let part = Restore::Keys {
        run: run("order-42"),
        keys: (1..=700).map(key).collect(),
    };
    wait(|ack| store.restore(part, ack)).unwrap();
    // A run that is being restored is nothing that is wrong.
    assert!(whole(&store).records > before.records + 500);
    let give_up = Restore::GiveUp {
        run: run("order-42"),
    };
    let mut slices = 0;
    while wait(|ack| store.restore(give_up.clone(), ack)).unwrap() == Progress::More {
        slices += 1;
        whole(&store);
    }
    assert!(slices > 0);
    assert_eq!(settled(&world, store).1, before);
}
