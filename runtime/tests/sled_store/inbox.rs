//! What is kept of messages: heads that older software understands as long as there are none, and keys, of which none
//! is lost without a word.

use perennial::history::{Channel, Observation, Told};
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use perennial_runtime::store::sled::{Salvage, Tamper, import};
use perennial_runtime::store::{
    Awaited, Changes, Commit, Deliver, Delivered, KEY_WINDOW, KeyRecord, OpenError, Refusal,
    SendKey, SledStore, Store, StoreError, export,
};

use crate::world::{World, begin, commit_of, copy, run, unit, wait};

fn keyed(run: &RunKey, key: &str, at: u64) -> Deliver {
    let told = Told {
        number: 0,
        name: "approval".into(),
        payload: Value::null(),
        key: Some(key.into()),
    };
    let digest = told.payload.digest();
    let at = Timestamp::from_millis(at);
    Deliver {
        run: run.clone(),
        observation: Observation::MessageArrived(told),
        at,
        tasks: Vec::new(),
        key: Some(SendKey {
            key: key.into(),
            at,
            digest,
        }),
        stub: None,
    }
}

fn deliver(store: &SledStore, deliver: Deliver) -> Result<Delivered, StoreError> {
    wait(|ack| store.deliver(deliver, ack))
}

/// A run that was sent so many messages with keys.
fn with_keys(keys: u64) -> World {
    let world = World::new();
    let store = world.open();
    let order = run("order-42");
    begin(&store, &order);
    for number in 0..keys {
        deliver(&store, keyed(&order, &format!("key-{number}"), 5)).unwrap();
    }
    store.close().unwrap();
    world
}

fn keys(store: &SledStore) -> Vec<KeyRecord> {
    store.keys(&run("order-42"), 0, usize::MAX).unwrap()
}

/// The first byte of a record is its version.
#[test]
fn a_head_without_an_inbox_is_one_that_older_software_understands() {
    let world = World::new();
    let store = world.open();
    let [plain, told] = ["plain", "told"].map(run);
    begin(&store, &plain);
    begin(&store, &told);
    let awaits = Commit {
        sequence: 0,
        changes: Changes {
            awaited: Some(Awaited::of([(Channel::Message, "approval")])),
            ..Changes::default()
        },
        ..commit_of(&told, unit(1))
    };
    wait(|ack| store.commit(awaits, ack)).unwrap();
    store.close().unwrap();
    drop(store);
    let mut versions = Vec::new();
    world.in_sled(|db| {
        let heads = db.scan_prefix(b"rdefault\0");
        versions = heads.map(|head| head.unwrap().1[0]).collect();
    });
    assert_eq!(versions, [1, 2]);
}

#[test]
fn a_key_that_is_lost_or_another_one_is_noticed_at_the_opening() {
    let world = with_keys(30);
    drop(world.open());
    for kind in ["s", "t"] {
        for older in [false, true] {
            let copied = World::new();
            copy(&world.path(), &copied.path());
            copied.in_sled(|db| {
                let (key, value) = db.scan_prefix(kind).next().unwrap().unwrap();
                let (_, other) = db.scan_prefix(kind).next_back().unwrap().unwrap();
                assert_ne!(value, other);
                if older {
                    db.insert(key, other).unwrap();
                } else {
                    db.remove(key).unwrap();
                }
            });
            let error = copied.refusal();
            assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
        }
    }
}

/// Whoever sends with it is told so, and nobody else.
#[test]
fn a_damaged_key_is_an_error_with_its_place() {
    let world = with_keys(3);
    let (store, order) = (world.open(), run("order-42"));
    store.tamper(Tamper::FlipKey(&order, "key-2")).unwrap();
    let error = deliver(&store, keyed(&order, "key-2", 5)).unwrap_err();
    let mut texts = vec![error.to_string()];
    assert!(
        deliver(&store, keyed(&order, "key-1", 5))
            .unwrap()
            .duplicate
    );
    assert!(
        !deliver(&store, keyed(&order, "key-3", 5))
            .unwrap()
            .duplicate
    );
    let problems = |store: &SledStore| -> Vec<String> {
        let report = store.verify().unwrap();
        let lines = report.problems.iter().map(|problem| {
            let text = problem.to_string();
            text.lines().next().unwrap().to_owned()
        });
        lines.collect()
    };
    texts.extend(problems(&store));
    let mut out = Vec::new();
    let exported = export::export(&store, &mut out, Timestamp::default());
    texts.push(exported.unwrap_err().to_string());

    let world = with_keys(3);
    let store = world.open();
    store.tamper(Tamper::LoseKey(&order, "key-1")).unwrap();
    texts.extend(problems(&store));
    insta::assert_snapshot!(texts.join("\n---\n"));
}

#[test]
fn a_key_whose_place_another_one_takes_leaves_no_record_behind() {
    let world = with_keys(5);
    let (store, order) = (world.open(), run("order-42"));
    let before = store.verify().unwrap();
    // Two go for each that comes, and the third finds one.
    for number in 0..3 {
        let new = keyed(&order, &format!("new-{number}"), 6 + KEY_WINDOW);
        deliver(&store, new).unwrap();
    }
    let names: Vec<_> = keys(&store).into_iter().map(|key| key.key).collect();
    assert_eq!(names, ["new-0", "new-1", "new-2"]);
    let after = store.verify().unwrap();
    assert!(after.is_whole(), "{after:?}");
    assert_eq!((before.keys, after.keys), (5, 3));
    let kinds = store.stat().unwrap().kinds;
    let of_keys = kinds.iter().filter(|kind| kind.kind.contains("keys"));
    let records: Vec<_> = of_keys.map(|kind| (kind.kind, kind.records)).collect();
    let expected = [
        ("idempotency keys", 3),
        ("index entries of idempotency keys", 3),
    ];
    assert_eq!(records, expected);
}

#[test]
fn keys_are_exported_and_imported() {
    let world = with_keys(1_200);
    let store = world.open();
    let file = world.path().with_extension("jsonl");
    let exported = export::export_to(&store, &file, Timestamp::default()).unwrap();
    assert_eq!(exported.counts.keys, 1_200);
    let copy = World::new();
    let imported = import(&file, copy.path(), export::PartialRuns::Refuse).unwrap();
    assert_eq!(imported.counts, exported.counts);
    let copied = copy.open();
    assert_eq!(keys(&copied), keys(&store));
    assert_eq!(
        copied.load(&run("order-42")).unwrap(),
        store.load(&run("order-42")).unwrap()
    );
    let again = keyed(&run("order-42"), "key-77", 9);
    assert_eq!(deliver(&copied, again.clone()), deliver(&store, again));
}

/// One that is lost is not known, so that no key of its time is taken any more.
#[test]
fn a_salvage_keeps_the_keys_that_are_left() {
    for lost in [false, true] {
        let world = with_keys(20);
        drop(world.open());
        if lost {
            world.in_sled(|db| {
                let key = db.scan_prefix("s").nth(7).unwrap().unwrap().0;
                db.remove(key).unwrap();
            });
        }
        let scratch = World::new();
        std::fs::create_dir_all(scratch.path()).unwrap();
        let file = scratch.file("saved.jsonl");
        let salvaged = Salvage::default()
            .run(world.path(), &file, Timestamp::default())
            .unwrap();
        assert_eq!(salvaged.is_whole(), !lost);
        assert_eq!(salvaged.exported.counts.keys, 20 - u64::from(lost));
        let saved = World::new();
        import(&file, saved.path(), export::PartialRuns::Refuse).unwrap();
        let store = saved.open();
        assert_eq!(keys(&store).len(), 20 - usize::from(lost));
        let answers: Vec<_> = (0..20)
            .map(|number| deliver(&store, keyed(&run("order-42"), &format!("key-{number}"), 5)))
            .collect();
        let known = |answer: &&Result<Delivered, StoreError>| {
            matches!(
                answer,
                Ok(Delivered {
                    duplicate: true,
                    ..
                })
            )
        };
        assert_eq!(answers.iter().filter(known).count(), keys(&store).len());
        let too_old = |answer: &&Result<Delivered, StoreError>| {
            matches!(answer, Err(StoreError::Refused(Refusal::KeyTooOld { .. })))
        };
        assert_eq!(answers.iter().filter(too_old).count(), usize::from(lost));
        let new = keyed(&run("order-42"), "new", 77);
        assert!(!deliver(&store, new).unwrap().duplicate);
    }
}
