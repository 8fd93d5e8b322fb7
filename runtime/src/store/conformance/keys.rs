//! Idempotency keys: which sends are one and the same (S26). The numbers are those of the acceptance cases, as far as
//! a store sees them.

use perennial::history::Observation;
use perennial::value::Digest;
use perennial::{RunKey, Timestamp};

use super::inbox::{message, received, refused, send, told};
use super::scene::{
    Answer, Run, Scene, ack, at, create, first_unit, key_in, no_changes, ok, value,
};
use super::{Factory, everything};
use crate::store::{
    Changes, Create, Created, Deliver, Delivered, KEY_WINDOW, KeyConflict, KeyRecord, Loaded,
    Progress, Refusal, Restore, SendKey, StoreError,
};

/// A message `approval` with a key that was made at that time. What it says goes into its digest.
pub(super) fn keyed(run: &RunKey, key: &str, says: &str, now: Timestamp) -> Deliver {
    let payload = value(says.len() + 2);
    let mut digest = payload.digest();
    digest.0[0] = says.as_bytes().first().copied().unwrap_or_default();
    let told = perennial::history::Told {
        payload,
        key: Some(key.into()),
        ..told("approval")
    };
    Deliver {
        at: now,
        key: Some(SendKey {
            key: key.into(),
            at: now,
            digest,
        }),
        ..send(run, Observation::MessageArrived(told))
    }
}

pub(super) fn keys(scene: &Scene, run: &RunKey) -> Vec<KeyRecord> {
    ok(scene.store.keys(run, 0, usize::MAX))
}

fn receipt(delivered: Delivered) -> (u64, Timestamp, bool) {
    (delivered.arrival, delivered.at, delivered.duplicate)
}

/// M13: also after reopening; the answer is the first one. M19: without a key each send is another one.
pub fn m13_m19_a_repeated_send_is_the_same_one(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let delivery = keyed(&run.key, "approve-42", "yes", at(7));
    let first = ok(scene.send(delivery.clone()));
    assert_eq!(receipt(first), (1, at(7), false));
    let later = Deliver {
        at: at(900),
        ..delivery
    };
    let again = ok(scene.send(later.clone()));
    assert_eq!(receipt(again), (1, at(7), true));
    assert!(!again.wakes);
    for arrival in 2..4 {
        let another = ok(scene.send(send(&run.key, message("approval"))));
        assert_eq!((another.arrival, another.duplicate), (arrival, false));
    }
    let record = KeyRecord {
        key: "approve-42".into(),
        digest: later.key.as_ref().map_or(Digest([0; 32]), |key| key.digest),
        name: "approval".into(),
        arrival: 1,
        event: None,
        at: at(7),
        sent: at(7),
    };
    assert_eq!(keys(&scene, &run.key), [record]);
    let loaded = run.load();
    assert_eq!((loaded.queue.len(), loaded.head.inbox.keys), (3, 1));
    let key = run.key.clone();
    if let Some(scene) = scene.reopen() {
        assert_eq!(receipt(ok(scene.send(later))), (1, at(7), true));
        assert_eq!(scene.load(&key), loaded);
    }
}

/// M14: all are answered with the one row.
pub fn m14_senders_at_once_with_one_key_make_one_row(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let answers: Vec<Vec<Delivered>> = std::thread::scope(|threads| {
        let senders: Vec<_> = (0..4)
            .map(|_| {
                threads.spawn(|| {
                    let sent: Vec<Answer<Delivered>> = (0..50)
                        .map(|number| {
                            let (ack, answer) = ack();
                            let name = format!("key-{}", number % 5);
                            let delivery = keyed(&run.key, &name, "yes", at(7));
                            scene.store.deliver(delivery, ack);
                            answer
                        })
                        .collect();
                    sent.into_iter().map(|answer| ok(answer.wait())).collect()
                })
            })
            .collect();
        let joined = senders.into_iter().map(|sender| match sender.join() {
            Ok(answers) => answers,
            Err(_) => panic!("a sender panicked"),
        });
        joined.collect()
    });
    let answers: Vec<Delivered> = answers.into_iter().flatten().collect();
    let first = answers.iter().filter(|answer| !answer.duplicate).count();
    assert_eq!((answers.len(), first), (200, 5));
    let loaded = run.load();
    assert_eq!((loaded.queue.len(), loaded.head.inbox.keys), (5, 5));
    assert_eq!(keys(&scene, &run.key).len(), 5);
}

/// M15: nothing is kept of it. The error names both digests.
pub fn m15_a_key_stands_for_one_send(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let (yes, no) = (
        keyed(&run.key, "approve-42", "yes", at(7)),
        keyed(&run.key, "approve-42", "no", at(8)),
    );
    let digest = |delivery: &Deliver| {
        let key = delivery.key.as_ref();
        key.map_or(Digest([0; 32]), |key| key.digest)
    };
    ok(scene.send(yes.clone()));
    let before = run.load();
    let conflict = Refusal::KeyConflict(Box::new(KeyConflict {
        run: run.key.clone(),
        key: "approve-42".into(),
        name: "approval".into(),
        known: digest(&yes),
        given: digest(&no),
    }));
    assert_eq!(scene.send(no), refused(conflict));
    assert_eq!(run.load(), before);
    assert!(ok(scene.send(yes)).duplicate);
}

/// M16, and M52: the same id in two namespaces is two runs.
pub fn m16_m52_each_run_has_keys_of_its_own(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let names = [("default", "a"), ("default", "b"), ("other", "a")];
    for (namespace, name) in names {
        let run = scene.begin_in(namespace, name);
        let delivery = keyed(&run.key, "approve", "yes", at(7));
        assert!(!ok(scene.send(delivery)).duplicate);
    }
    for (namespace, name) in names {
        let run = key_in(namespace, name);
        assert_eq!(scene.load(&run).queue.len(), 1);
        assert_eq!(keys(&scene, &run).len(), 1);
        assert!(ok(scene.send(keyed(&run, "approve", "yes", at(8)))).duplicate);
    }
}

/// M17 and M18: the receipt is the first one. M7: what is new is refused.
pub fn m17_m18_a_key_is_known_after_all_is_over(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let delivery = keyed(&run.key, "approve", "yes", at(7));
    let first = ok(scene.send(delivery.clone()));
    run.commit(Changes {
        units: vec![received(&run, 1)],
        taken: vec![1],
        ..no_changes()
    });
    let again = ok(scene.send(delivery.clone()));
    assert_eq!(receipt(again), (first.arrival, first.at, true));
    assert!(run.load().queue.is_empty());
    run.end();
    let again = ok(scene.send(delivery));
    assert_eq!(receipt(again), (first.arrival, first.at, true));
    let other = keyed(&run.key, "approve", "no", at(7));
    assert!(matches!(
        scene.send(other),
        Err(StoreError::Refused(Refusal::KeyConflict { .. }))
    ));
    let finished = || Refusal::Finished {
        run: run.key.clone(),
    };
    let new = keyed(&run.key, "another", "yes", at(7));
    assert_eq!(scene.send(new), refused(finished()));
    let without = send(&run.key, message("approval"));
    assert_eq!(scene.send(without), refused(finished()));
    assert!(run.load().queue.is_empty());
}

/// M13 to M15, M18: as one that was sent to it. Also of a run that begins anew, which knows no other keys (M43).
pub fn a_message_that_comes_with_a_run_is_known_by_its_key(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let order = super::scene::key("order-42");
    let send = |key: &str, says: &str| keyed(&order, key, says, at(7));
    let create = |after: Option<u64>, sends: &[Deliver]| {
        let changes = Changes {
            units: vec![first_unit(&order, after.map_or(1, |after| after + 1))],
            enqueue: sends.iter().map(|send| send.observation.clone()).collect(),
            stamp: at(7),
            ..Changes::default()
        };
        let keys = sends.iter().filter_map(|send| send.key.clone());
        scene.create(Create {
            after,
            keys: keys.collect(),
            ..create(&order, scene.owner, changes)
        })
    };
    let names = || {
        let keys = keys(&scene, &order).into_iter();
        keys.map(|key| (key.key, key.arrival)).collect::<Vec<_>>()
    };
    let known = |sent: Deliver| receipt(ok(scene.send(sent)));
    let is_conflict = |sent: Deliver| {
        let refusal = scene.send(sent);
        matches!(
            refusal,
            Err(StoreError::Refused(Refusal::KeyConflict { .. }))
        )
    };

    let long = create(None, &[send(&"k".repeat(257), "yes")]);
    assert!(matches!(long, Err(StoreError::TooLarge { .. })), "{long:?}");
    assert_eq!(ok(scene.store.head(&order)), None);

    // Of two rows of one key the first is known.
    let sends = [send("a", "yes"), send("b", "yes"), send("a", "no")];
    let Created::New(head, _) = ok(create(None, &sends)) else {
        panic!("it is new")
    };
    assert_eq!((head.inbox.messages, head.inbox.keys), (3, 2));
    assert_eq!(known(send("b", "yes")), (2, at(7), true));
    assert!(is_conflict(send("a", "no")));
    assert!(matches!(
        ok(create(None, &[send("c", "yes")])),
        Created::Exists(_)
    ));
    assert_eq!(names(), [("a".to_owned(), 1), ("b".to_owned(), 2)]);

    let mut run = Run {
        scene: &scene,
        key: order.clone(),
        head,
    };
    run.end();
    assert_eq!(known(send("a", "yes")), (1, at(7), true));
    ok(create(Some(1), &[send("a", "no")]));
    assert_eq!(names(), [("a".to_owned(), 4)]);
    assert_eq!(known(send("a", "no")), (4, at(7), true));
    assert!(is_conflict(send("a", "yes")));
    // Enough of them to take all places that the generation before has left.
    for key in ["b", "c", "d", "e"] {
        assert!(!known(send(key, "yes")).2);
    }
    let loaded = scene.load(&order);
    assert_eq!((loaded.head.inbox.keys, names().len()), (5, 5));
    let (again, order) = (send("a", "no"), order.clone());
    if let Some(scene) = scene.reopen() {
        assert_eq!(scene.load(&order), loaded);
        assert!(ok(scene.send(again)).duplicate);
    }
}

/// After the window a key is not known, and is refused where it could have been used (S26).
pub fn keys_are_known_for_their_window(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    assert_eq!(scene.store.profile().bounds.key_window, KEY_WINDOW);
    let old: Vec<_> = (0..4)
        .map(|number| keyed(&run.key, &format!("old-{number}"), "yes", at(100 + number)))
        .collect();
    for delivery in &old {
        ok(scene.send(delivery.clone()));
    }
    let last = at(103 + KEY_WINDOW);
    let delayed = |delivery: &Deliver, at| Deliver {
        at,
        ..delivery.clone()
    };
    // They are there until others come in their places.
    assert!(ok(scene.send(delayed(&old[3], last))).duplicate);
    let late = at(104 + KEY_WINDOW);
    ok(scene.send(keyed(&run.key, "new", "yes", late)));
    let known: Vec<_> = keys(&scene, &run.key)
        .into_iter()
        .map(|key| key.key)
        .collect();
    assert_eq!(known, ["old-2", "old-3", "new"]);
    assert_eq!(run.load().head.inbox.keys, 3);
    let too_old = |delivery: &Deliver| Refusal::KeyTooOld {
        run: run.key.clone(),
        key: delivery
            .key
            .as_ref()
            .map_or_else(String::new, |key| key.key.clone()),
        at: delivery
            .key
            .as_ref()
            .map_or_else(Timestamp::default, |key| key.at),
    };
    let before = run.load();
    for delivery in &old[..2] {
        assert_eq!(
            scene.send(delayed(delivery, late)),
            refused(too_old(delivery))
        );
        // Also where the clock has gone back.
        assert_eq!(scene.send(delivery.clone()), refused(too_old(delivery)));
    }
    let never = keyed(&run.key, "never", "yes", at(103));
    assert_eq!(scene.send(delayed(&never, late)), refused(too_old(&never)));
    assert_eq!(run.load(), before);
    assert!(ok(scene.send(delayed(&old[3], late))).duplicate);
}

/// From the first slice on none is known. A run that begins anew half-way through does not know them either.
pub fn keys_are_purged_in_slices(factory: Factory<'_>) {
    for stop_after in [1, 4, usize::MAX] {
        let scene = Scene::new(factory);
        let mut run = scene.begin("order-42");
        for number in 0..12 {
            ok(scene.send(keyed(&run.key, &format!("{number}"), "yes", at(7))));
        }
        run.commit(Changes {
            taken: (1..=12).collect(),
            ..no_changes()
        });
        run.end();
        let mut slices = 1;
        while ok(scene.purge(run.purge_of(2))) == Progress::More && slices < stop_after {
            slices += 1;
            assert!(keys(&scene, &run.key).is_empty());
        }
        assert!(slices >= stop_after.min(5), "{slices}");
        let finished = Refusal::Finished {
            run: run.key.clone(),
        };
        let again = keyed(&run.key, "3", "yes", at(7));
        assert_eq!(scene.send(again.clone()), refused(finished));
        run.begin_anew();
        assert_eq!(receipt(ok(scene.send(again.clone()))), (13, at(7), false));
        assert_eq!(receipt(ok(scene.send(again.clone()))), (13, at(7), true));
        for number in 20..30 {
            let other = keyed(&run.key, &format!("{number}"), "yes", at(7));
            assert!(!ok(scene.send(other)).duplicate);
        }
        assert_eq!(keys(&scene, &run.key).len(), 11);
        assert_eq!(run.load().head.inbox.keys, 11);
        let key = run.key.clone();
        if let Some(scene) = scene.reopen() {
            assert!(ok(scene.send(again)).duplicate);
            assert_eq!(keys(&scene, &key).len(), 11);
        }
    }
}

/// In the order of arrival, however many.
pub fn keys_come_in_pages(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let answers: Vec<_> = (0..1_200_u64)
        .map(|number| {
            let (ack, answer) = ack();
            // Not in the order of their names.
            let name = format!("{}-{number}", number * 7 % 10);
            scene
                .store
                .deliver(keyed(&run.key, &name, "yes", at(7)), ack);
            answer
        })
        .collect();
    for answer in answers {
        ok(answer.wait());
    }
    let all = keys(&scene, &run.key);
    let arrivals: Vec<u64> = all.iter().map(|key| key.arrival).collect();
    assert_eq!(arrivals, (1..=1_200).collect::<Vec<_>>());
    let page = |after, limit| ok(scene.store.keys(&run.key, after, limit));
    assert_eq!(page(0, 10), all[..10]);
    assert_eq!(page(10, 1_100), all[10..1_110]);
    assert_eq!(page(1_199, 5), all[1_199..]);
    assert_eq!(page(1_200, 5), []);
    assert_eq!(page(0, 0), []);
    assert_eq!(page(u64::MAX, 5), []);
    let nobody = super::scene::key("nobody");
    assert_eq!(ok(scene.store.keys(&nobody, 0, 5)), []);
}

/// They are put back with the run, as many as its head says, and are the ones that it was sent.
pub fn a_restored_run_knows_its_keys(factory: Factory<'_>) {
    let original = Scene::new(factory);
    let mut run = original.begin("order-42");
    run.grow(1);
    for name in ["one", "two", "three"] {
        ok(original.send(keyed(&run.key, name, "yes", at(7))));
    }
    let (key, loaded) = (run.key.clone(), run.load());
    let all = keys(&original, &key);
    let restored = Scene::new(factory);
    let put = |keys: &[KeyRecord]| {
        restored.restore(Restore::Keys {
            run: key.clone(),
            keys: keys.to_vec(),
        })
    };
    let rest = |loaded: &Loaded| {
        restored.restore(Restore::Run {
            run: key.clone(),
            loaded: Box::new(loaded.clone()),
        })
    };
    let inconsistent = |answer: Result<Progress, StoreError>| match answer {
        Err(StoreError::Refused(Refusal::Inconsistent { problem, .. })) => problem,
        answer => panic!("{answer:?}"),
    };
    ok(put(&all[..2]));
    let order = "keys that are not in the order of their arrival";
    assert_eq!(inconsistent(put(&all[1..])), order);
    let twice = KeyRecord {
        arrival: 9,
        ..all[0].clone()
    };
    assert_eq!(inconsistent(put(&[twice])), "two sends of one key");
    let again = create(&key, restored.owner, no_changes());
    let restoring = Refusal::Restoring { run: key.clone() };
    assert_eq!(restored.create(again), refused(restoring));
    ok(restored.restore(Restore::History {
        run: key.clone(),
        generation: 1,
        units: original.units(&key, 1),
        attempts: Vec::new(),
        end: None,
    }));
    let number = "another number of keys than its head says";
    assert_eq!(inconsistent(rest(&loaded)), number);
    ok(put(&all[2..]));
    let mut later = loaded.clone();
    later.head.inbox.keys_after = 1;
    let own = "keys of sends that are not its own";
    assert_eq!(inconsistent(rest(&later)), own);
    ok(rest(&loaded));
    assert_eq!(keys(&restored, &key), all);
    assert_eq!(
        everything::told(&restored, &key),
        everything::told(&original, &key)
    );
    assert!(ok(restored.send(keyed(&key, "two", "yes", at(8)))).duplicate);

    // Given up, nothing of them is left.
    let other = super::scene::key("other");
    ok(restored.restore(Restore::Keys {
        run: other.clone(),
        keys: all,
    }));
    let give_up = Restore::GiveUp { run: other.clone() };
    while ok(restored.restore(give_up.clone())) == Progress::More {}
    let run = restored.begin("other");
    assert!(!ok(restored.send(keyed(&run.key, "two", "yes", at(8)))).duplicate);
    assert_eq!(keys(&restored, &other).len(), 1);
}
