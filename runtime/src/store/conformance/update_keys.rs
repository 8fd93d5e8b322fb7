//! Idempotency keys of updates that runs have accepted (S26, S27).

use perennial::history::{Decision, Observation, Unit};
use perennial::value::Digest;

use super::Factory;
use super::keys::{keyed, keys};
use super::scene::{Run, Scene, at, key, no_changes, ok, value};
use crate::store::{
    Changes, KEY_WINDOW, Keep, KeyConflict, KeyKind, KeyRecord, Refusal, Restore, SendKey,
    StoreError, UpdateKey,
};

/// The key of an update whose unit begins with that event.
fn update(name: &str, event: u64, now: u64) -> UpdateKey {
    let mut digest = Digest([7; 32]);
    digest.0[0] = name.as_bytes().first().copied().unwrap_or_default();
    UpdateKey {
        key: SendKey {
            key: name.into(),
            at: at(now),
            digest,
        },
        name: "set-limit".into(),
        event,
    }
}

fn accepted(number: u64, name: &str, now: u64) -> Unit {
    let update = Observation::UpdateAccepted {
        name: "set-limit".into(),
        input: value(9),
        key: Some(name.into()),
    };
    Unit {
        number,
        at: at(now),
        observation: update,
        decisions: vec![Decision::UpdateAnswered {
            value: value(5),
            site: None,
        }],
    }
}

/// What one commit has that accepts updates under these keys.
fn changes(run: &Run<'_>, names: &[&str], now: u64) -> Changes {
    let first = run.head.sequence + 1;
    let numbered = || {
        names
            .iter()
            .zip(0..)
            .map(|(name, index)| (*name, first + 2 * index))
    };
    Changes {
        units: numbered()
            .map(|(name, number)| accepted(number, name, now))
            .collect(),
        update_keys: numbered()
            .map(|(name, number)| update(name, number, now))
            .collect(),
        ..no_changes()
    }
}

pub(super) fn accept(run: &mut Run<'_>, names: &[&str]) {
    let changes = changes(run, names, 7);
    run.commit(changes);
}

fn find(scene: &Scene, run: &str, name: &str) -> Option<KeyRecord> {
    ok(scene.store.key(&key(run), KeyKind::Update, name))
}

/// It names the event, and is there after reopening; a commit that is refused notes none.
pub fn s27_the_key_of_an_accepted_update_is_noted_with_its_unit(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let before = run.load();
    let mut wrong = run.commit_of(changes(&run, &["a"], 7));
    wrong.sequence += 1;
    assert!(scene.commit(wrong).is_err());
    assert_eq!((run.load(), find(&scene, "order-42", "a")), (before, None));
    accept(&mut run, &["a", "b"]);
    let record = |name: &str, arrival, event| KeyRecord {
        key: name.into(),
        digest: update(name, event, 7).key.digest,
        name: "set-limit".into(),
        arrival,
        event: Some(event),
        at: at(7),
        sent: at(7),
    };
    let both = [record("a", 1, 2), record("b", 2, 4)];
    assert_eq!(keys(&scene, &run.key), both);
    assert_eq!(find(&scene, "order-42", "b").as_ref(), Some(&both[1]));
    assert_eq!(find(&scene, "order-42", "c"), None);
    assert_eq!(find(&scene, "order-43", "a"), None);
    let loaded = run.load();
    assert_eq!(
        (
            loaded.head.inbox.keys,
            loaded.head.arrivals,
            loaded.queue.len()
        ),
        (2, 2, 0)
    );
    if let Some(scene) = scene.reopen() {
        assert_eq!(keys(&scene, &key("order-42")), both);
        assert_eq!(find(&scene, "order-42", "a").as_ref(), Some(&both[0]));
    }
}

/// One key may stand for one of each.
pub fn s26_keys_of_updates_and_of_messages_are_two_kinds(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    accept(&mut run, &["k"]);
    let sent = ok(scene.send(keyed(&run.key, "k", "yes", at(8))));
    assert_eq!((sent.arrival, sent.duplicate), (2, false));
    assert!(ok(scene.send(keyed(&run.key, "k", "yes", at(9)))).duplicate);
    let kinds = [KeyKind::Update, KeyKind::Send];
    let events = kinds.map(|kind| {
        let found = ok(scene.store.key(&run.key, kind, "k"));
        found.map(|record| (record.kind(), record.event))
    });
    assert_eq!(
        events,
        [
            Some((KeyKind::Update, Some(2))),
            Some((KeyKind::Send, None))
        ]
    );
}

/// The owner looks first, so this is one that has not: nothing of its commit is done.
pub fn s26_a_key_that_is_known_is_not_noted_again(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    accept(&mut run, &["k"]);
    let before = run.load();
    let (again, twice) = (changes(&run, &["k"], 8), changes(&run, &["a", "a"], 8));
    for (refused, name) in [(again, "k"), (twice, "a")] {
        let digest = update(name, 2, 7).key.digest;
        let conflict = KeyConflict {
            run: run.key.clone(),
            key: name.into(),
            name: "set-limit".into(),
            known: digest,
            given: digest,
        };
        let conflict = StoreError::Refused(Refusal::KeyConflict(Box::new(conflict)));
        assert_eq!(run.try_commit(refused), Err(conflict));
        assert_eq!(run.load(), before);
    }
}

/// They are known for the same window as keys of messages, and give their places to each other.
pub fn updates_take_places_among_the_keys(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    accept(&mut run, &["old-1"]);
    ok(scene.send(keyed(&run.key, "old-2", "yes", at(8))));
    accept(&mut run, &["old-3"]);
    let late = 9 + KEY_WINDOW;
    let mut changes = changes(&run, &["new"], late);
    changes.stamp = at(late);
    run.commit(changes);
    let names: Vec<_> = keys(&scene, &run.key)
        .into_iter()
        .map(|one| one.key)
        .collect();
    assert_eq!(names, ["old-3", "new"]);
    assert_eq!(run.load().head.inbox.keys, 2);
    assert_eq!(find(&scene, "order-42", "old-1"), None);
    ok(scene.send(keyed(&run.key, "newer", "yes", at(late))));
    let names: Vec<_> = keys(&scene, &run.key)
        .into_iter()
        .map(|one| one.key)
        .collect();
    assert_eq!(names, ["new", "newer"]);
}

/// They stay after its end, and go when it begins anew or is purged.
pub fn keys_of_updates_go_with_their_run(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    for name in ["anew", "purged"] {
        let mut run = scene.begin(name);
        accept(&mut run, &["k"]);
        run.end();
        assert!(find(&scene, name, "k").is_some());
        match name {
            "anew" => run.begin_anew(),
            _ => run.purge(Keep::Head),
        }
        assert_eq!(find(&scene, name, "k"), None);
        assert_eq!(keys(&scene, &run.key), []);
    }
    let mut run = scene.begin("again");
    accept(&mut run, &["k"]);
    run.end();
    run.begin_anew();
    accept(&mut run, &["k"]);
    let event = find(&scene, "again", "k").and_then(|record| record.event);
    assert_eq!((event, keys(&scene, &run.key).len()), (Some(2), 1));
}

/// They are put back with the run, whose history has to have them.
pub fn a_restored_run_knows_its_updates(factory: Factory<'_>) {
    let original = Scene::new(factory);
    let mut run = original.begin("order-42");
    accept(&mut run, &["a", "b"]);
    ok(original.send(keyed(&run.key, "a", "yes", at(8))));
    let (run, loaded) = (run.key.clone(), run.load());
    let all = keys(&original, &run);
    let restored = Scene::new(factory);
    let mut far = all.clone();
    far[1].event = Some(99);
    for (keys, fits) in [(far, false), (all.clone(), true)] {
        ok(restored.restore(Restore::Keys {
            run: run.clone(),
            keys,
        }));
        ok(restored.restore(Restore::History {
            run: run.clone(),
            generation: 1,
            units: original.units(&run, 1),
            attempts: Vec::new(),
            end: None,
        }));
        let whole = restored.restore(Restore::Run {
            run: run.clone(),
            loaded: Box::new(loaded.clone()),
        });
        if fits {
            ok(whole);
        } else {
            let problem = "the key of an update that its history does not have";
            let run = run.clone();
            let refusal = Refusal::Inconsistent { run, problem };
            assert_eq!(whole, Err(StoreError::Refused(refusal)));
            let give_up = Restore::GiveUp {
                run: key("order-42"),
            };
            while ok(restored.restore(give_up.clone())) == crate::store::Progress::More {}
        }
    }
    assert_eq!(keys(&restored, &run), all);
    assert_eq!(
        find(&restored, "order-42", "b"),
        find(&original, "order-42", "b")
    );
}
