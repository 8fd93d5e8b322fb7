//! Messages and signals: what wakes a run, how much it takes, and which sends are one and the same (S25, S26). The
//! numbers are those of the acceptance cases, as far as a store sees them.

use perennial::history::{Channel, Decision, Observation, Told, Unit};
use perennial::value::{Digest, Value};
use perennial::{MAX_CHANNEL_NAME, RunKey, Timestamp};

use super::scene::{
    Answer, Run, Scene, ack, at, completed, create, first_unit, key_in, no_changes, ok, put, value,
};
use super::{Factory, everything};
use crate::store::{
    Awaited, Changes, Created, Deliver, Delivered, KEY_WINDOW, Keep, KeyRecord, Loaded,
    MAX_AWAITED, MAX_AWAITED_BYTES, MAX_INBOX, MAX_KEY_BYTES, Progress, Refusal, Restore, SendKey,
    StoreError,
};

fn refused<T>(refusal: Refusal) -> Result<T, StoreError> {
    Err(StoreError::Refused(refusal))
}

fn told(name: &str) -> Told {
    Told {
        number: 0,
        name: name.into(),
        payload: Value::null(),
        key: None,
    }
}

pub(super) fn message(name: &str) -> Observation {
    Observation::MessageArrived(told(name))
}

pub(super) fn signal(name: &str) -> Observation {
    Observation::SignalArrived(told(name))
}

fn send(run: &RunKey, observation: Observation) -> Deliver {
    Deliver {
        run: run.clone(),
        observation,
        at: at(5),
        tasks: Vec::new(),
        key: None,
    }
}

/// A message `approval` with a key that was made at that time. What it says goes into its digest.
pub(super) fn keyed(run: &RunKey, key: &str, says: &str, now: Timestamp) -> Deliver {
    let payload = value(says.len() + 2);
    let mut digest = payload.digest();
    digest.0[0] = says.as_bytes().first().copied().unwrap_or_default();
    let told = Told {
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

/// The messages and signals in the queue: number and name, and whether the number is that of the row.
fn rows(loaded: &Loaded) -> Vec<(u64, String)> {
    let rows = loaded.queue.iter().filter_map(|row| {
        let (Observation::MessageArrived(told) | Observation::SignalArrived(told)) =
            &row.observation
        else {
            return None;
        };
        assert_eq!(told.number, row.arrival);
        Some((told.number, told.name.clone()))
    });
    rows.collect()
}

fn awaits(names: &[(Channel, &str)]) -> Changes {
    Changes {
        awaited: Some(Awaited::of(names.iter().copied())),
        ..no_changes()
    }
}

/// The unit in which a wait takes the message of that number.
fn received(run: &Run<'_>, number: u64) -> Unit {
    let mut unit = run.next_unit(0);
    unit.decisions.push(Decision::Received {
        operation: 1,
        channel: Channel::Message,
        number,
        invalid: None,
    });
    unit
}

fn keys(scene: &Scene, run: &RunKey) -> Vec<KeyRecord> {
    ok(scene.store.keys(run, 0, usize::MAX))
}

fn receipt(delivered: Delivered) -> (u64, Timestamp, bool) {
    (delivered.arrival, delivered.at, delivered.duplicate)
}

/// M20: over all names, in one row with everything else that arrives.
pub fn m20_what_is_sent_is_numbered_by_its_arrival(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let sent = [message("a"), signal("b"), message("a"), message("c")];
    for (arrival, observation) in (1..).zip(sent) {
        let delivered = ok(scene.send(send(&run.key, observation)));
        assert_eq!(receipt(delivered), (arrival, at(5), false));
    }
    ok(run.deliver(1));
    run.commit(Changes {
        enqueue: vec![message("own")],
        ..no_changes()
    });
    let loaded = run.load();
    let names = [(1, "a"), (2, "b"), (3, "a"), (4, "c"), (6, "own")];
    let expected = names.map(|(number, name)| (number, name.to_owned()));
    assert_eq!(rows(&loaded), expected);
    let inbox = &loaded.head.inbox;
    assert_eq!((inbox.messages, inbox.signals, inbox.keys), (4, 1, 0));
}

/// M3 and M4: a send that comes before the park is in the queue that the owner looks into, and one that comes after
/// it wakes. M22: nothing else does.
pub fn m03_m04_m22_a_send_wakes_those_who_wait_for_it(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let key = run.key.clone();
    let wakes = |observation| ok(scene.send(send(&key, observation))).wakes;
    assert!(!wakes(message("approval")));
    run.commit(awaits(&[
        (Channel::Message, "approval"),
        (Channel::Signal, "refresh"),
    ]));
    assert_eq!(rows(&run.load()).len(), 1);
    assert!(wakes(message("approval")));
    assert!(wakes(signal("refresh")));
    assert!(!wakes(signal("approval")));
    assert!(!wakes(message("refresh")));
    assert!(!wakes(message("approval-2")));
    assert!(wakes(completed(1, Value::null())));
    // A commit that does not speak of it leaves it as it is.
    run.grow(1);
    assert!(wakes(message("approval")));
    run.commit(awaits(&[]));
    assert!(!wakes(message("approval")));
    run.commit(Changes {
        awaited: Some(Awaited::Anything),
        ..no_changes()
    });
    assert!(wakes(message("whatever")));
    // Both interleavings where one is handed over right after the other.
    run.commit(awaits(&[]));
    for parks_first in [false, true] {
        let parked = run.commit_of(awaits(&[(Channel::Message, "approval")]));
        let (ack, sent) = ack();
        let delivery = send(&key, message("approval"));
        let park = if parks_first {
            let park = scene.hand_over(parked);
            scene.store.deliver(delivery, ack);
            park
        } else {
            scene.store.deliver(delivery, ack);
            scene.hand_over(parked)
        };
        ok(park.wait());
        assert_eq!(ok(sent.wait()).wakes, parks_first);
        run.commit(awaits(&[]));
    }
    run.end();
    assert_eq!(run.load().head.inbox.awaited, Awaited::default());
}

/// As many names as there may be, and no more; also after reopening.
pub fn what_a_run_waits_for_stands_in_its_head(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    // 8 bytes beside its own for each.
    let length = MAX_AWAITED_BYTES / MAX_AWAITED - 8;
    let names: Vec<_> = (0..MAX_AWAITED)
        .map(|number| format!("{number:0>length$}"))
        .collect();
    let pairs = names.iter().map(|name| (Channel::Message, &name[..]));
    let awaited = Awaited::of(pairs);
    let Awaited::Names(named) = &awaited else {
        panic!("so many names are kept")
    };
    assert_eq!(named.len(), MAX_AWAITED);
    let too_long = named
        .iter()
        .map(|(channel, name)| (*channel, format!("{name}x")));
    let too_long = Awaited::Names(too_long.collect());
    let filled = |awaited| Changes {
        awaited: Some(awaited),
        // The head's record is as long as it gets.
        tasks: (1..40).map(put).collect(),
        ..no_changes()
    };
    let refusal = run.try_commit(filled(too_long));
    assert!(
        matches!(refusal, Err(StoreError::TooLarge { limit, .. }) if limit == MAX_AWAITED_BYTES as u64),
        "{refusal:?}"
    );
    assert_eq!(run.load().head.inbox, crate::store::Inbox::default());
    run.commit(filled(awaited.clone()));
    let before = run.load();
    assert_eq!(before.head.inbox.awaited, awaited);
    let (key, head) = (run.key.clone(), run.head.clone());
    if let Some(scene) = scene.reopen() {
        let mut run = Run {
            scene: &scene,
            key,
            head,
        };
        assert_eq!(run.load(), before);
        assert!(ok(scene.send(send(&run.key, message(&names[7])))).wakes);
        run.commit(awaits(&[(Channel::Signal, "refresh")]));
        assert!(!ok(scene.send(send(&run.key, message(&names[7])))).wakes);
    }
}

/// A message counts until a wait has taken it, also while it is in the history; a signal until it has left the queue.
pub fn what_a_run_has_not_taken_is_counted(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    for observation in [message("a"), message("a"), signal("b"), signal("b")] {
        ok(scene.send(send(&run.key, observation)));
    }
    let counts = |run: &Run<'_>| {
        let inbox = run.load().head.inbox;
        (inbox.messages, inbox.signals)
    };
    assert_eq!(counts(&run), (2, 2));
    let arrived = |run: &Run<'_>, observation| Unit {
        observation,
        ..run.next_unit(0)
    };
    run.commit(Changes {
        units: vec![arrived(&run, message("a"))],
        taken: vec![1],
        ..no_changes()
    });
    assert_eq!(counts(&run), (2, 2));
    run.commit(Changes {
        units: vec![received(&run, 1)],
        ..no_changes()
    });
    assert_eq!(counts(&run), (1, 2));
    run.commit(Changes {
        units: vec![arrived(&run, signal("b"))],
        taken: vec![3],
        ..no_changes()
    });
    assert_eq!(counts(&run), (1, 1));
    // Nobody waited for the other one.
    run.commit(Changes {
        taken: vec![4],
        dropped_signals: 1,
        ..no_changes()
    });
    assert_eq!(counts(&run), (1, 0));
    assert_eq!(rows(&run.load()), [(2, "a".to_owned())]);
}

/// M12: one more is refused and not kept, until one is taken. Signals have the same bound for themselves.
pub fn m12_an_inbox_has_its_bound(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    assert_eq!(scene.store.profile().bounds.inbox, MAX_INBOX);
    let most = usize::try_from(MAX_INBOX).unwrap_or(usize::MAX);
    run.commit(Changes {
        enqueue: vec![message("a"); most - 1],
        ..no_changes()
    });
    ok(scene.send(send(&run.key, message("b"))));
    let before = run.load();
    let key = run.key.clone();
    let full = || Refusal::InboxFull {
        run: key.clone(),
        limit: MAX_INBOX,
    };
    let (a, b) = (message("a"), message("b"));
    assert_eq!(scene.send(send(&run.key, a)), refused(full()));
    assert_eq!(scene.send(send(&run.key, b.clone())), refused(full()));
    let with_key = keyed(&run.key, "k", "yes", at(5));
    assert_eq!(scene.send(with_key), refused(full()));
    assert!(keys(&scene, &run.key).is_empty());
    assert_eq!(run.load(), before);
    // What the run's own activities come to is no message.
    ok(run.deliver(1));
    run.commit(Changes {
        units: vec![received(&run, 1)],
        taken: vec![1],
        ..no_changes()
    });
    ok(scene.send(send(&run.key, b)));

    run.commit(Changes {
        enqueue: vec![signal("c"); most],
        ..no_changes()
    });
    assert_eq!(scene.send(send(&run.key, signal("c"))), refused(full()));
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
    let conflict = Refusal::KeyConflict {
        run: run.key.clone(),
        key: "approve-42".into(),
        name: "approval".into(),
        known: digest(&yes),
        given: digest(&no),
    };
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
        assert_eq!(rows(&scene.load(&run)).len(), 1);
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

/// M43: what an earlier run of that id was told is not the new one's, and neither are its keys; results of
/// activities are there for it.
pub fn m43_a_run_that_begins_anew_has_an_empty_inbox(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(awaits(&[(Channel::Message, "approval")]));
    let names = ["one", "two", "three", "four"];
    for name in names {
        ok(scene.send(keyed(&run.key, name, "yes", at(7))));
    }
    ok(scene.send(send(&run.key, signal("refresh"))));
    let large = Told {
        payload: value(9_000),
        ..told("large")
    };
    ok(scene.send(send(&run.key, Observation::MessageArrived(large))));
    ok(run.deliver(1));
    run.end();
    run.begin_anew();
    let loaded = run.load();
    let left: Vec<_> = loaded.queue.iter().map(|row| row.arrival).collect();
    assert_eq!(left, [7]);
    let inbox = &loaded.head.inbox;
    assert_eq!((inbox.messages, inbox.signals, inbox.keys), (0, 0, 0));
    assert_eq!(inbox.awaited, Awaited::default());
    assert!(keys(&scene, &run.key).is_empty());
    // Each takes the place of its own, or of those that are left of the others.
    for (arrival, name) in (8..).zip(["two", "five", "one"]) {
        let delivered = ok(scene.send(keyed(&run.key, name, "no", at(8))));
        assert_eq!((delivered.arrival, delivered.duplicate), (arrival, false));
    }
    let known = |scene: &Scene, run: &RunKey| -> Vec<String> {
        keys(scene, run).into_iter().map(|key| key.key).collect()
    };
    assert_eq!(known(&scene, &run.key), ["two", "five", "one"]);
    assert_eq!(run.load().head.inbox.keys, 3);
    let key = run.key.clone();
    if let Some(scene) = scene.reopen() {
        assert_eq!(known(&scene, &key), ["two", "five", "one"]);
        assert!(ok(scene.send(keyed(&key, "two", "no", at(8)))).duplicate);
        assert!(!ok(scene.send(keyed(&key, "three", "no", at(8)))).duplicate);
    }
}

/// A run may begin with a message: start and send in one write.
pub fn a_run_may_begin_with_a_message(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = super::scene::key("order-42");
    let changes = Changes {
        units: vec![first_unit(&run, 1)],
        enqueue: vec![message("approval")],
        ..no_changes()
    };
    let Created::New(head) = ok(scene.create(create(&run, scene.owner, changes))) else {
        panic!("it is new")
    };
    assert_eq!(head.inbox.messages, 1);
    assert_eq!(rows(&scene.load(&run)), [(1, "approval".to_owned())]);
}

/// M42: they are kept, and counted, until the run is purged.
pub fn m42_unread_messages_are_kept_with_the_run(factory: Factory<'_>) {
    let mut scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    for name in ["one", "two", "three"] {
        ok(scene.send(keyed(&run.key, name, "yes", at(7))));
    }
    run.commit(Changes {
        units: vec![received(&run, 2)],
        taken: vec![2],
        ..no_changes()
    });
    run.end();
    let (key, head) = (run.key.clone(), run.head.clone());
    for reopened in [false, true] {
        if reopened {
            let Some(again) = scene.reopen() else { return };
            scene = again;
        }
        let loaded = scene.load(&key);
        assert_eq!(loaded.head.inbox.messages, 2);
        let numbers: Vec<u64> = rows(&loaded)
            .into_iter()
            .map(|(number, _)| number)
            .collect();
        assert_eq!(numbers, [1, 3]);
        // Nobody has anything to do with them.
        assert!(ok(scene.store.claimable("one", None, 9)).is_empty());
    }
    let run = Run {
        scene: &scene,
        key,
        head,
    };
    run.purge(Keep::Head);
    let loaded = run.load();
    assert_eq!(loaded.head.inbox, crate::store::Inbox::default());
    assert_eq!(loaded, Loaded::alone(loaded.head.clone()));
    assert!(keys(&scene, &run.key).is_empty());
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

/// Names and keys: nothing is written.
pub fn what_is_sent_has_bounds(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let longest = "x".repeat(MAX_KEY_BYTES);
    ok(scene.send(keyed(&run.key, &longest, "yes", at(7))));
    ok(scene.send(send(&run.key, message(&"x".repeat(MAX_CHANNEL_NAME)))));
    let before = run.load();
    let long_key = keyed(&run.key, &format!("{longest}x"), "yes", at(7));
    let long_name = send(&run.key, message(&"x".repeat(MAX_CHANNEL_NAME + 1)));
    for (delivery, bound) in [(long_key, MAX_KEY_BYTES), (long_name, MAX_CHANNEL_NAME)] {
        let refusal = scene.send(delivery);
        assert!(
            matches!(refusal, Err(StoreError::TooLarge { limit, .. }) if limit == bound as u64),
            "{refusal:?}"
        );
    }
    let nobody = super::scene::key("nobody");
    let none = Refusal::NoRun {
        run: nobody.clone(),
    };
    assert_eq!(scene.send(keyed(&nobody, "k", "yes", at(7))), refused(none));
    assert_eq!(run.load(), before);
    assert!(ok(scene.send(keyed(&run.key, &longest, "yes", at(7)))).duplicate);
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
