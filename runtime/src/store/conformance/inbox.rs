//! Messages and signals: what wakes a run, and how much it takes (S25). The numbers are those of the acceptance cases,
//! as far as a store sees them.

use perennial::history::{Channel, Decision, Observation, Told, Unit};
use perennial::value::Value;
use perennial::{MAX_CHANNEL_NAME, RunKey};

use super::Factory;
use super::keys::{keyed, keys};
use super::scene::{
    Run, Scene, ack, at, completed, create, first_unit, no_changes, ok, put, value,
};
use crate::store::{
    Awaited, Changes, Created, Deliver, Inbox, Keep, Loaded, MAX_AWAITED, MAX_AWAITED_BYTES,
    MAX_INBOX, MAX_KEY_BYTES, Refusal, StoreError,
};

pub(super) fn refused<T>(refusal: Refusal) -> Result<T, StoreError> {
    Err(StoreError::Refused(refusal))
}

pub(super) fn told(name: &str) -> Told {
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

pub(super) fn send(run: &RunKey, observation: Observation) -> Deliver {
    Deliver {
        run: run.clone(),
        observation,
        at: at(5),
        tasks: Vec::new(),
        key: None,
        stub: None,
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
pub(super) fn received(run: &Run<'_>, number: u64) -> Unit {
    let mut unit = run.next_unit(0);
    unit.decisions.push(Decision::Received {
        operation: 1,
        channel: Channel::Message,
        number,
        invalid: None,
    });
    unit
}

/// M20: over all names, in one row with everything else that arrives.
pub fn m20_what_is_sent_is_numbered_by_its_arrival(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let sent = [message("a"), signal("b"), message("a"), message("c")];
    for (arrival, observation) in (1..).zip(sent) {
        let delivered = ok(scene.send(send(&run.key, observation)));
        assert_eq!((delivered.arrival, delivered.at), (arrival, at(5)));
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
    assert_eq!(run.load().head.inbox, Inbox::default());
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
    let Created::New(head, _) = ok(scene.create(create(&run, scene.owner, changes))) else {
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
    assert_eq!(loaded.head.inbox, Inbox::default());
    assert_eq!(loaded, Loaded::alone(loaded.head.clone()));
    assert!(keys(&scene, &run.key).is_empty());
}

/// Those that it was not told are for nobody. They do not stay behind, and are not counted.
pub fn signals_go_with_the_end_of_their_run(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    for observation in [signal("bell"), message("approval"), signal("bell")] {
        ok(scene.send(send(&run.key, observation)));
    }
    assert_eq!(run.load().head.inbox.signals, 2);
    run.end();
    let (key, loaded) = (run.key.clone(), run.load());
    let Inbox {
        messages, signals, ..
    } = loaded.head.inbox;
    assert_eq!((messages, signals), (1, 0));
    assert_eq!(rows(&loaded), [(2, "approval".to_owned())]);
    if let Some(scene) = scene.reopen() {
        assert_eq!(scene.load(&key), loaded);
    }
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
