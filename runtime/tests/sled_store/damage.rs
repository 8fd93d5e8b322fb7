//! Damage: an exact error, never an empty store, and nothing is written afterwards.

use std::fs;

use perennial::history::Observation;
use perennial::wire::{RecordError, RecordWriter, open};
use perennial::{ActivityOptions, Class, Timestamp};
use perennial_runtime::store::sled::{Damage, Tamper};
use perennial_runtime::store::{
    AttemptOutcome, AttemptRecord, Changes, Commit, OpenError, SledStore, Store, StoreError, Task,
    TaskChange, TimerChange,
};

use crate::world::{World, begin, commit, commit_of, copy, large_unit, run, sequence, unit, wait};

fn damage(world: &World) -> Damage {
    match world.refusal() {
        OpenError::Damaged { damage, .. } => damage,
        error => panic!("{error}"),
    }
}

#[test]
fn a_store_of_newer_software_is_told_apart() {
    let world = World::with_units(1);
    let mut state = RecordWriter::new(1);
    state.fields().number(1, 99);
    state.fields().number(2, 1);
    state.fields().number(3, 1);
    fs::write(world.file("perennial.state"), state.finish()).unwrap();
    let db = fs::read(world.file("sled/db")).unwrap();
    let error = world.refusal();
    assert_eq!(
        error,
        OpenError::Newer {
            folder: world.path(),
            format: 99,
            understood: 3
        }
    );
    insta::assert_snapshot!(world.text(&error));
    assert_eq!(fs::read(world.file("sled/db")).unwrap(), db);
}

#[test]
fn a_state_file_that_is_lost_or_changed_is_noticed() {
    let world = World::with_units(1);
    let state = world.file("perennial.state");
    let mut bytes = fs::read(&state).unwrap();
    bytes[7] ^= 1;
    fs::write(&state, bytes).unwrap();
    let problem = RecordError::Damaged {
        problem: "the checksum does not fit",
    };
    assert_eq!(damage(&world), Damage::StateUnreadable { problem });
    fs::remove_file(&state).unwrap();
    assert_eq!(damage(&world), Damage::StateMissing);
}

#[test]
fn a_database_that_is_gone_is_not_taken_for_a_new_store() {
    let world = World::with_units(5);
    fs::remove_file(world.file("sled/db")).unwrap();
    let error = world.refusal();
    insta::assert_snapshot!(world.text(&error));
    assert!(matches!(
        error,
        OpenError::Damaged {
            damage: Damage::Empty { .. },
            ..
        }
    ));
    assert!(!world.file("sled/db").exists(), "a new one was made");
    // It stays like that, also with everything of sled's gone.
    fs::remove_dir_all(world.file("sled")).unwrap();
    assert!(matches!(damage(&world), Damage::Empty { .. }));
}

#[test]
fn an_empty_database_in_the_place_of_a_full_one_is_noticed() {
    let (world, empty) = (World::with_units(5), World::new());
    drop(empty.open());
    fs::remove_dir_all(world.file("sled")).unwrap();
    copy(&empty.file("sled"), &world.file("sled"));
    assert!(matches!(damage(&world), Damage::Empty { acknowledged } if acknowledged >= 5));
    // Also the second time, when sled has written to it.
    assert!(matches!(damage(&world), Damage::Empty { .. }));
}

#[test]
fn an_older_database_in_the_place_of_a_newer_one_is_noticed() {
    let world = World::with_units(5);
    let old = World::new();
    copy(&world.path(), &old.path());
    let store = world.open();
    for number in 6..=9 {
        commit(&store, &run("order-42"), number).unwrap();
    }
    drop(store);
    drop(world.open());
    fs::remove_dir_all(world.file("sled")).unwrap();
    copy(&old.file("sled"), &world.file("sled"));
    let error = world.refusal();
    let OpenError::Damaged {
        damage: Damage::Behind {
            acknowledged,
            found,
        },
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(acknowledged - found, 4);

    // The copy that this opening made is still what it was when it has been tried again.
    let copied = world.file("db.under-recovery");
    let again = world.refusal();
    assert!(matches!(&again, OpenError::Damaged { copy: Some(copy), .. } if *copy == copied));
    let first = fs::read(&copied).unwrap();
    world.refusal();
    assert_eq!(fs::read(&copied).unwrap(), first);
}

#[test]
fn a_damaged_newest_record_is_noticed_when_the_store_is_opened() {
    type Change = fn(&sled::Db, &[u8], Vec<u8>);
    let flip: Change = |db, key, mut value| {
        let middle = value.len() / 2;
        value[middle] ^= 1;
        db.insert(key, value).unwrap();
    };
    let lose: Change = |db, key, _| drop(db.remove(key).unwrap());
    for (kind, change) in [("r", flip), ("u", flip), ("r", lose), ("u", lose)] {
        let world = World::with_units(5);
        world.in_sled(|db| {
            let (key, value) = db.scan_prefix(kind).next_back().unwrap().unwrap();
            change(db, &key, value.to_vec());
        });
        let found = damage(&world);
        let Damage::Record {
            error: StoreError::Damaged { place, .. },
        } = &found
        else {
            panic!("{found}")
        };
        assert!(place.contains("order-42"), "{place}");
    }
}

/// sled opens without a word when it has lost a part of its file, or has an older version of it.
#[test]
fn any_record_that_is_lost_or_older_is_noticed_at_the_opening_or_when_it_is_asked_for() {
    let world = World::new();
    let store = world.open();
    for order in ["order-1", "order-2"] {
        begin(&store, &run(order));
        for number in 1..=100 {
            commit(&store, &run(order), number).unwrap();
        }
    }
    let deadline = Timestamp::from_millis(9);
    let beside = Commit {
        sequence: 100,
        changes: Changes {
            tasks: vec![TaskChange::Put(task(1))],
            timers: vec![TimerChange::Put {
                operation: 2,
                deadline,
            }],
            attempts: vec![AttemptRecord {
                operation: 1,
                attempt: 1,
                outcome: AttemptOutcome::Lost,
                at: deadline,
            }],
            ..Changes::default()
        },
        ..commit_of(&run("order-1"), unit(101))
    };
    wait(|ack| store.commit(beside, ack)).unwrap();
    wait(|ack| store.commit(commit_of(&run("order-2"), large_unit(101, 20_000)), ack)).unwrap();
    drop(store);
    // The journal has let go of all this, and other records are the newest.
    let store = world.open();
    let other = run("order-3");
    begin(&store, &other);
    for number in 1..=100 {
        commit(&store, &other, number).unwrap();
    }
    drop(store);
    drop(world.open());
    let mut kinds = Vec::new();
    world.in_sled(|db| {
        let key = |entry: sled::Result<(sled::IVec, sled::IVec)>| entry.unwrap().0[0];
        kinds = db.iter().map(key).collect();
        kinds.dedup();
    });
    assert_eq!(kinds, b"acdmruw");
    for kind in kinds {
        for older in [false, true] {
            let copied = World::new();
            copy(&world.path(), &copied.path());
            copied.in_sled(|db| {
                let (key, value) = db.scan_prefix([kind]).next().unwrap().unwrap();
                if older {
                    // A whole record, and another one.
                    let (_, other) = db.scan_prefix([kind]).next_back().unwrap().unwrap();
                    let other = if other == value {
                        RecordWriter::new(1).finish()
                    } else {
                        other.to_vec()
                    };
                    db.insert(key, other).unwrap();
                } else {
                    db.remove(key).unwrap();
                }
            });
            let kind = char::from(kind);
            match copied.try_open() {
                Err(error) => assert!(matches!(error, OpenError::Damaged { .. }), "{error}"),
                Ok(store) => {
                    assert!("acu".contains(kind), "{kind} is looked at at the opening");
                    let report = store.verify().unwrap();
                    assert!(!report.is_whole(), "{kind} is gone, and nobody says so");
                }
            }
        }
    }
}

/// What was acknowledged does not depend on sled before the journal has let go of it.
#[test]
fn what_sled_loses_and_the_journal_has_is_no_damage() {
    let world = World::new();
    let store = world.open();
    begin(&store, &run("order-42"));
    for number in 1..=5 {
        commit(&store, &run("order-42"), number).unwrap();
    }
    drop(store);
    let empty = World::new();
    drop(empty.open());
    fs::remove_dir_all(world.file("sled")).unwrap();
    copy(&empty.file("sled"), &world.file("sled"));
    let store = world.open();
    assert_eq!(sequence(&store, &run("order-42")), 5);
    assert!(store.verify().unwrap().is_whole());
}

fn task(operation: u64) -> Task {
    Task {
        operation,
        generation: 1,
        unit: 1,
        name: "charge".into(),
        options: ActivityOptions::new(Class::Pure),
        attempt: 1,
        lost: 0,
        started: None,
        not_before: Timestamp::default(),
        scheduled: Timestamp::default(),
        last_failure: None,
    }
}

fn segment(world: &World) -> std::path::PathBuf {
    let segments = fs::read_dir(world.file("journal")).unwrap();
    let mut segments: Vec<_> = segments
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    segments.sort();
    segments.pop().unwrap()
}

#[test]
fn a_journal_that_is_gone_or_changed_is_noticed() {
    let noticed = |damage_it: &dyn Fn(&World)| {
        let world = World::with_units(5);
        let store = world.open();
        commit(&store, &run("order-42"), 6).unwrap();
        drop(store);
        damage_it(&world);
        let found = damage(&world);
        assert_eq!(damage(&world), found, "trying again changes nothing");
        found
    };
    let gone = noticed(&|world| fs::remove_dir_all(world.file("journal")).unwrap());
    assert!(matches!(gone, Damage::JournalMissing { .. }), "{gone}");
    let header = noticed(&|world| {
        let mut bytes = fs::read(segment(world)).unwrap();
        bytes[..4_096].fill(0);
        fs::write(segment(world), bytes).unwrap();
    });
    assert!(matches!(header, Damage::JournalHeader { .. }), "{header}");
    let commit = noticed(&|world| {
        let mut bytes = fs::read(segment(world)).unwrap();
        bytes[4_096 + 40] ^= 1;
        fs::write(segment(world), bytes).unwrap();
    });
    assert!(matches!(commit, Damage::JournalCommit { .. }), "{commit}");
    let short = noticed(&|world| {
        let bytes = fs::read(segment(world)).unwrap();
        fs::write(segment(world), &bytes[..4_096]).unwrap();
    });
    assert!(matches!(short, Damage::JournalShort { .. }), "{short}");
    let behind = noticed(&|world| {
        let mut bytes = fs::read(segment(world)).unwrap();
        bytes[4_096..].fill(0);
        fs::write(segment(world), bytes).unwrap();
    });
    assert!(matches!(behind, Damage::JournalBehind { .. }), "{behind}");
}

/// With `Os` the end of the journal was in the memory of the system alone.
#[test]
fn what_a_power_cut_may_take_with_os_is_no_damage_and_what_it_may_not_is() {
    // As it is while the process lives and sled knows nothing of the last commits.
    let frozen = loop {
        let world = World::with_units(5);
        let store = world.open();
        let applied = |world: &World| {
            let state = fs::read(world.file("perennial.state")).unwrap();
            let (_, mut fields) = open(&state, 1).unwrap();
            let mut taken = 0;
            while let Some((field, content)) = fields.next_field().unwrap() {
                if field == 6 {
                    taken = content.number("taken").unwrap();
                }
            }
            taken
        };
        let before = applied(&world);
        for number in 6..=9 {
            commit(&store, &run("order-42"), number).unwrap();
        }
        // It is refused, and by then the last frame has its mark.
        commit(&store, &run("order-42"), 6).unwrap_err();
        let copied = World::new();
        copy(&world.path(), &copied.path());
        // On a machine that is slow sled may know of them by now.
        if applied(&copied) == before && applied(&world) == before {
            break copied;
        }
    };
    let cut = |boot: &str, os: bool| {
        let copied = World::new();
        copy(&frozen.path(), &copied.path());
        fs::remove_file(copied.file("perennial.lock")).unwrap();
        let before = fs::read(copied.file("perennial.state")).unwrap();
        let (_, mut fields) = open(&before, 1).unwrap();
        let mut state = RecordWriter::new(1);
        while let Some((field, content)) = fields.next_field().unwrap() {
            match field {
                2 => state.fields().number(2, 11),
                4 => state.fields().number(4, os.into()),
                5 => state.fields().text(5, boot),
                7 => state.fields().bytes(7, content.bytes("tallies").unwrap()),
                field => state
                    .fields()
                    .number(field, content.number("a number").unwrap()),
            }
        }
        fs::write(copied.file("perennial.state"), state.finish()).unwrap();
        let segment = segment(&copied);
        let mut bytes = fs::read(&segment).unwrap();
        let frames = bytes.windows(2).enumerate().skip(4_096);
        let frames: Vec<usize> = frames
            .filter(|(_, bytes)| bytes == b"PJ")
            .map(|(at, _)| at)
            .collect();
        // The last one is the mark.
        let last = frames[frames.len() - 2];
        bytes[last + 40] ^= 1;
        fs::write(&segment, bytes).unwrap();
        copied
    };
    let now = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    for (boot, os) in [("another", false), (now.trim(), true)] {
        let found = damage(&cut(boot, os));
        assert!(matches!(found, Damage::JournalCommit { .. }), "{found}");
    }
    if now.is_empty() {
        return;
    }
    let lost = cut("another", true);
    let store = lost.open();
    assert_eq!(sequence(&store, &run("order-42")), 8);
    assert!(store.verify().unwrap().is_whole());
    commit(&store, &run("order-42"), 9).unwrap();
    drop(store);
    assert_eq!(sequence(&lost.open(), &run("order-42")), 9);
}

#[test]
fn bytes_that_sled_does_not_understand_are_an_error_or_harmless_but_no_loss() {
    let world = World::with_units(200);
    let size = fs::read(world.file("sled/db")).unwrap().len();
    let mut damaged = 0;
    for place in 0..24 {
        let copied = World::new();
        copy(&world.path(), &copied.path());
        let db = copied.file("sled/db");
        let mut bytes = fs::read(&db).unwrap();
        let at = size * place / 24;
        bytes[at..(at + 40).min(size)].fill(0xff);
        fs::write(&db, bytes).unwrap();
        match copied.try_open() {
            Ok(store) => {
                let order = run("order-42");
                let noticed = match store.verify() {
                    Ok(report) => !report.is_whole() || sequence(&store, &order) == 200,
                    Err(_) => true,
                };
                assert!(noticed, "at {at} something was lost and nobody said so");
            }
            Err(OpenError::Damaged { .. }) => damaged += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(damaged > 0, "nothing was noticed");
}

#[test]
fn a_verification_tells_what_is_wrong_and_counts_what_is_there() {
    let world = World::with_units(9);
    let store = world.open();
    begin(&store, &run("other"));
    commit(&store, &run("other"), 1).unwrap();
    let report = store.verify().unwrap();
    assert!(report.is_whole());
    assert_eq!(
        (report.runs, report.generations, report.units, report.events),
        (2, 2, 10, 10)
    );

    let order = run("order-42");
    store.tamper(Tamper::FlipUnit(&order, 1, 4)).unwrap();
    store.tamper(Tamper::LoseUnit(&run("other"), 1, 1)).unwrap();
    let report = store.verify().unwrap();
    let texts: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(texts.join("\n---\n"));
    // What is not touched is still read and written.
    commit(&store, &order, 10).unwrap();
}

/// What an index does not name is never woken.
#[test]
fn a_verification_holds_the_indexes_against_the_runs() {
    let world = World::new();
    let store = world.open();
    let [waiting, idle] = ["waiting", "idle"].map(run);
    for run in [&waiting, &idle] {
        begin(&store, run);
    }
    let timer = TimerChange::Put {
        operation: 1,
        deadline: Timestamp::from_millis(7),
    };
    let changes = Changes {
        enqueue: vec![Observation::TimerFired { operation: 2 }],
        timers: vec![timer],
        ..Changes::default()
    };
    let enqueue = Commit {
        sequence: 0,
        changes,
        ..commit_of(&waiting, unit(1))
    };
    wait(|ack| store.commit(enqueue, ack)).unwrap();
    assert_eq!(store.verify().unwrap().problems, []);
    store.tamper(Tamper::LoseWork(&waiting)).unwrap();
    store.tamper(Tamper::AddWork(&idle)).unwrap();
    let mut texts = problems(&store);
    let value = store.claimable("any", None, 9).unwrap();
    assert_eq!(value, [idle], "it is what verify says");
    // One thing at a time of each run.
    store.tamper(Tamper::AddWork(&waiting)).unwrap();
    let deadline = Timestamp::from_millis(7);
    store
        .tamper(Tamper::LoseDue(&waiting, 1, deadline))
        .unwrap();
    texts.extend(problems(&store));
    insta::assert_snapshot!(texts.join("\n"));
}

fn problems(store: &SledStore) -> Vec<String> {
    let report = store.verify().unwrap();
    let lines = report.problems.iter().map(|problem| {
        let text = problem.to_string();
        text.lines().next().unwrap().to_owned()
    });
    lines.collect()
}

/// It makes none, and says so.
#[test]
fn where_a_store_must_be_none_is_made() {
    let world = World::new();
    let error = SledStore::open_existing(world.path()).unwrap_err();
    assert_eq!(
        error,
        OpenError::NoStore {
            folder: world.path()
        }
    );
    assert!(!world.path().exists());
    begin(&world.open(), &run("order-42"));
    SledStore::open_existing(world.path()).unwrap();
}
