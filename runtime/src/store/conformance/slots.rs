//! Slots: what a commit does to other runs, and what it says of that (S3). The numbers are those of the acceptance
//! cases, as far as a store sees them.

use perennial::history::{Channel, Observation, SlotResult, Told};
use perennial::value::Value;
use perennial::{Receipt, RunEnd, RunKey, SendFailure, Timestamp};

use super::inbox::{message, send, signal, told};
use super::keys::keys;
use super::scene::{Run, Scene, at, create, first_unit, key, no_changes, ok, unit, value};
use super::{Factory, everything};
use crate::store::inbox::send_digest;
use crate::store::{
    Awaited, Changes, Committed, Created, Deliver, Loaded, MAX_INBOX, Queued, SendKey, Slot,
    SlotEffect, Status, StoreError, slot_key,
};

/// A slot that sends something at a time.
pub(super) fn slot(operation: u64, to: &RunKey, observation: Observation, now: u64) -> Slot {
    Slot {
        operation,
        at: at(now),
        effect: SlotEffect::Send {
            run: to.id.clone(),
            observation,
        },
    }
}

fn sends(slots: Vec<Slot>) -> Changes {
    Changes {
        slots,
        ..no_changes()
    }
}

impl Run<'_> {
    /// Commits a unit with those slots.
    #[track_caller]
    fn send(&mut self, slots: Vec<Slot>) -> Committed {
        let unit = self.next_unit(slots.len());
        let last = unit.last();
        let changes = Changes {
            units: vec![unit],
            ..sends(slots)
        };
        let committed = ok(self.scene.hand_over(self.commit_of(changes)).wait());
        self.head.sequence = last;
        committed
    }
}

fn sent(number: u64, now: u64, duplicate: bool) -> SlotResult {
    SlotResult::Sent(Receipt {
        number,
        at: at(now),
        duplicate,
    })
}

fn filled(operation: u64, result: SlotResult) -> Observation {
    Observation::SlotFilled { operation, result }
}

fn row(arrival: u64, now: u64, observation: Observation) -> Queued {
    Queued {
        arrival,
        at: at(now),
        observation,
    }
}

/// A message as the queue has it that a run has sent.
fn arrived(number: u64, name: &str, sender: &Run<'_>, operation: u64) -> Observation {
    Observation::MessageArrived(Told {
        number,
        key: Some(derived(sender, operation)),
        ..told(name)
    })
}

fn derived(sender: &Run<'_>, operation: u64) -> String {
    slot_key(&sender.key.id, sender.head.created, operation)
}

/// The results that a run's queue has for its slots.
fn results(loaded: &Loaded) -> Vec<(u64, SlotResult)> {
    let rows = loaded
        .queue
        .iter()
        .filter_map(|row| match &row.observation {
            Observation::SlotFilled { operation, result } => Some((*operation, result.clone())),
            _ => None,
        });
    rows.collect()
}

/// The row of the other run, the row of the own one, and the answer tell the same. The key is the operation's.
pub fn m47_what_is_sent_and_what_that_came_to_are_one_write(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (other, mut run) = (scene.begin("order-42"), scene.begin("stock-7"));
    let before = other.load().head;
    let committed = run.send(vec![slot(3, &other.key, message("reserved"), 9)]);
    let there = row(1, 9, arrived(1, "reserved", &run, 3));
    let here = row(1, 9, filled(3, sent(1, 9, false)));
    assert_eq!(committed.rows, [here.clone()]);
    assert_eq!(
        (committed.told[0].run.clone(), committed.told.len()),
        (other.key.clone(), 1)
    );
    assert_eq!(committed.told[0].row, there);
    assert_eq!(run.load().queue, [here]);
    let loaded = other.load();
    assert_eq!(loaded.queue, [there]);
    assert_eq!((loaded.head.inbox.messages, loaded.head.stamp), (1, at(9)));
    // Who owns it and where it stands is as before.
    let after = loaded.head;
    assert_eq!(
        (after.owner, after.fence, after.generation, after.sequence),
        (
            before.owner,
            before.fence,
            before.generation,
            before.sequence
        )
    );
    let known = keys(&scene, &other.key);
    assert_eq!((known.len(), &known[0].key), (1, &derived(&run, 3)));
    assert_eq!((known[0].arrival, &*known[0].name), (1, "reserved"));
    assert!(keys(&scene, &run.key).is_empty());
}

/// M48: where the other run has the message, and its sender does not know, as after a restore of the sender from a
/// backup, the sender is told the number of then. Another message in place of that one is not sent.
pub fn m48_the_same_operation_is_sent_once(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (other, mut run) = (scene.begin("order-42"), scene.begin("stock-7"));
    let by_hand = Deliver {
        at: at(4),
        key: Some(SendKey {
            key: derived(&run, 3),
            at: at(4),
            digest: send_digest(Channel::Message, "reserved", &Value::null()),
        }),
        ..send(&other.key, arrived(0, "reserved", &run, 3))
    };
    ok(scene.send(by_hand));
    let before = other.load();
    let committed = run.send(vec![
        slot(3, &other.key, message("reserved"), 9),
        slot(3, &other.key, message("released"), 9),
    ]);
    let conflict = SlotResult::NotSent(SendFailure::Conflict {
        run: other.key.id.clone(),
    });
    assert_eq!(results(&run.load()), [(3, sent(1, 4, true)), (3, conflict)]);
    assert!(committed.told.is_empty(), "nobody has to be woken");
    assert_eq!(other.load(), before);

    // In the next generation an operation of that number is another one.
    run.end();
    let last = run.head.created;
    run.begin_anew();
    let created = Timestamp::from_millis(last.as_millis() + 1);
    assert_ne!(
        slot_key(&run.key.id, last, 3),
        slot_key(&run.key.id, created, 3)
    );
}

/// M49: each is a result like any other, the sender's units are there, and the other run is as it was.
pub fn m49_a_run_that_cannot_be_told_is_no_failure_of_the_commit(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (mut ended, full) = (scene.begin("ended"), scene.begin("full"));
    ended.end();
    for _ in 0..MAX_INBOX - 1 {
        let (ack, _) = super::scene::ack();
        scene
            .store
            .deliver(send(&full.key, message("reserved")), ack);
    }
    ok(scene.send(send(&full.key, message("reserved"))));
    let before = [&ended, &full].map(|run| run.load());
    let mut run = scene.begin("stock-7");
    let committed = run.send(vec![
        slot(1, &key("nobody"), message("reserved"), 9),
        slot(2, &ended.key, message("reserved"), 9),
        slot(3, &full.key, message("reserved"), 9),
        slot(4, &full.key, signal("refresh"), 9),
    ]);
    assert_eq!((committed.rows.len(), committed.told.len()), (4, 1));
    let failures = [
        SendFailure::RunNotFound {
            run: key("nobody").id,
        },
        SendFailure::RunFinished {
            run: ended.key.id.clone(),
            end: RunEnd::Completed,
            finished: before[0].head.finished.unwrap_or_default(),
        },
        SendFailure::InboxFull {
            run: full.key.id.clone(),
            limit: MAX_INBOX,
        },
    ];
    let mut expected: Vec<_> = (1..).zip(failures.map(SlotResult::NotSent)).collect();
    expected.push((4, sent(MAX_INBOX + 1, 9, false)));
    let loaded = run.load();
    assert_eq!(results(&loaded), expected);
    assert_eq!(loaded.head.sequence, 6);
    assert_eq!(ended.load(), before[0]);
    assert_eq!(
        full.load().head.inbox.messages,
        before[1].head.inbox.messages
    );
}

/// M50: the message is in the run's queue before what it came to, and the run takes it as any other.
pub fn m50_a_run_may_tell_itself_something(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("stock-7");
    let own = run.key.clone();
    let committed = run.send(vec![slot(1, &own, message("reserved"), 9)]);
    let rows = [
        row(1, 9, arrived(1, "reserved", &run, 1)),
        row(2, 9, filled(1, sent(1, 9, false))),
    ];
    assert_eq!((&committed.rows[..], committed.told.len()), (&rows[..], 0));
    let loaded = run.load();
    assert_eq!(loaded.queue, rows);
    assert_eq!((loaded.head.inbox.messages, loaded.head.inbox.keys), (1, 1));
}

/// M52: a run of that id in another namespace has nothing, and the sender does not find it.
pub fn m52_a_run_reaches_its_own_namespace_alone(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (same, elsewhere) = (
        scene.begin_in("shop", "order-42"),
        scene.begin_in("default", "order-42"),
    );
    let (alone, mut run) = (
        scene.begin_in("default", "order-43"),
        scene.begin_in("shop", "stock-7"),
    );
    run.send(vec![
        slot(1, &elsewhere.key, message("reserved"), 9),
        slot(2, &alone.key, message("reserved"), 9),
    ]);
    let nobody = SlotResult::NotSent(SendFailure::RunNotFound {
        run: alone.key.id.clone(),
    });
    assert_eq!(results(&run.load()), [(1, sent(1, 9, false)), (2, nobody)]);
    assert_eq!(same.load().queue.len(), 1);
    assert!(elsewhere.load().queue.is_empty() && alone.load().queue.is_empty());
}

/// Whatever guard it is that does not hold, and where a part of it is too large.
pub fn a_refused_commit_sends_nothing(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (other, run) = (scene.begin("order-42"), scene.begin("stock-7"));
    let before = [&other, &run].map(|run| run.load());
    let slots = || vec![slot(1, &other.key, message("reserved"), 9)];
    let mut moved = run.commit_of(sends(slots()));
    moved.sequence += 1;
    let mut fenced = run.commit_of(sends(slots()));
    fenced.fence.0 += 1;
    for commit in [moved, fenced] {
        let answer = scene.hand_over(commit).wait();
        assert!(matches!(answer, Err(StoreError::Refused(_))), "{answer:?}");
    }
    let name = message(&"n".repeat(2_000));
    let mut too_large = slots();
    too_large.push(slot(2, &other.key, name, 9));
    let answer = scene.hand_over(run.commit_of(sends(too_large))).wait();
    assert!(
        matches!(answer, Err(StoreError::TooLarge { .. })),
        "{answer:?}"
    );
    assert_eq!([&other, &run].map(|run| run.load()), before);
    assert!(keys(&scene, &other.key).is_empty());

    let mut ended = scene.begin("ended");
    ended.end();
    let answer = scene.hand_over(ended.commit_of(sends(slots()))).wait();
    assert!(matches!(answer, Err(StoreError::Refused(_))), "{answer:?}");
}

/// Several to one run, to different ones, and to itself: each finds what the ones before it have left.
pub fn sends_of_one_commit_stand_each_for_itself(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (one, two) = (scene.begin("one"), scene.begin("two"));
    let mut run = scene.begin("stock-7");
    let own = run.key.clone();
    let committed = run.send(vec![
        slot(1, &one.key, message("a"), 9),
        slot(2, &two.key, message("b"), 9),
        slot(3, &own, message("c"), 9),
        slot(4, &one.key, signal("d"), 9),
        slot(5, &key("nobody"), message("e"), 9),
        slot(6, &one.key, message("f"), 9),
    ]);
    let numbers = results(&run.load()).into_iter().map(|(operation, result)| {
        let number = match result {
            SlotResult::Sent(receipt) => Some(receipt.number),
            _ => None,
        };
        (operation, number)
    });
    let expected = [
        (1, Some(1)),
        (2, Some(1)),
        // Two results are in the run's own queue before it.
        (3, Some(3)),
        (4, Some(2)),
        (5, None),
        (6, Some(3)),
    ];
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
    let told = committed.told.iter();
    let told: Vec<_> = told
        .map(|told| (told.run.clone(), told.row.clone()))
        .collect();
    let of = |run: &Run<'_>| {
        let rows = told.iter().filter(|(to, _)| *to == run.key);
        rows.map(|(_, row)| row.clone()).collect::<Vec<_>>()
    };
    assert_eq!((of(&one), of(&two)), (one.load().queue, two.load().queue));
    assert_eq!(committed.rows, run.load().queue);
    let inbox = one.load().head.inbox;
    assert_eq!((inbox.messages, inbox.signals, inbox.keys), (2, 1, 2));
}

/// What it has decided with its last unit is done. Nobody is left to be told what that came to (S11), and to itself it
/// is a run that has ended.
pub fn a_run_that_ends_has_sent_and_is_told_nothing(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (other, mut run) = (scene.begin("order-42"), scene.begin("stock-7"));
    let own = run.key.clone();
    let last = run.next_unit(0);
    let changes = Changes {
        units: vec![last],
        status: Some(Status::Completed),
        ..sends(vec![
            slot(1, &other.key, message("reserved"), 9),
            slot(2, &own, message("reserved"), 9),
        ])
    };
    let committed = ok(scene.hand_over(run.commit_of(changes)).wait());
    run.head.sequence += 1;
    assert_eq!((committed.rows.len(), committed.told.len()), (0, 1));
    let loaded = run.load();
    assert_eq!((loaded.queue.len(), loaded.head.inbox.messages), (0, 0));
    assert_eq!(other.load().queue, [committed.told[0].row.clone()]);
}

/// The first unit has slots like any other.
pub fn a_run_may_begin_with_a_send(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let other = scene.begin("order-42");
    let run = key("stock-7");
    let begin = || Changes {
        units: vec![first_unit(&run, 1)],
        enqueue: vec![message("early")],
        ..sends(vec![slot(1, &other.key, message("reserved"), 9)])
    };
    let Created::New(head, committed) = ok(scene.create(create(&run, scene.owner, begin()))) else {
        panic!("it is new");
    };
    assert_eq!((committed.rows.len(), committed.told.len()), (2, 1));
    let loaded = scene.load(&run);
    assert_eq!((&loaded.head, &loaded.queue), (&head, &committed.rows));
    assert_eq!(results(&loaded), [(1, sent(1, 9, false))]);
    assert_eq!(other.load().queue.len(), 1);
    // Begun once, it sends once.
    let again = ok(scene.create(create(&run, scene.owner, begin())));
    assert!(matches!(again, Created::Exists(_)));
    assert_eq!(other.load().queue.len(), 1);
}

/// As a client's send does: a message that the run does not wait for wakes nobody.
pub fn a_send_wakes_those_who_wait_for_it(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut other = scene.begin("order-42");
    other.commit(Changes {
        awaited: Some(Awaited::of([(Channel::Message, "reserved")])),
        ..no_changes()
    });
    let mut run = scene.begin("stock-7");
    let committed = run.send(vec![
        slot(1, &other.key, message("reserved"), 9),
        slot(2, &other.key, message("paid"), 9),
        slot(3, &other.key, signal("reserved"), 9),
    ]);
    let wakes: Vec<_> = committed.told.iter().map(|told| told.wakes).collect();
    assert_eq!(wakes, [true, false, false]);
    // The sender has something to do: what its sends came to.
    let claimable = ok(scene.store.claimable("test", None, 9));
    assert_eq!(claimable, [other.key.clone(), run.key.clone()]);
}

/// It is among the keys that the run knows, and the sender's clock does not make it too old.
pub fn a_send_takes_a_place_among_the_keys(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (other, mut run) = (scene.begin("order-42"), scene.begin("stock-7"));
    for operation in 1..4 {
        run.send(vec![slot(
            operation,
            &other.key,
            message("reserved"),
            operation,
        )]);
    }
    let known = keys(&scene, &other.key);
    let names: Vec<_> = known.iter().map(|known| known.key.clone()).collect();
    assert_eq!(names, [1, 2, 3].map(|operation| derived(&run, operation)));
    assert_eq!(other.load().head.inbox.keys, 3);
    // A signal is for the moment.
    run.send(vec![slot(4, &other.key, signal("refresh"), 9)]);
    assert_eq!(other.load().head.inbox.keys, 3);
}

/// Both rows and the key; and the runs are told as before.
pub fn what_was_sent_is_there_after_reopening(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (other, mut run) = (scene.begin("order-42"), scene.begin("stock-7"));
    run.send(vec![
        slot(1, &other.key, message("reserved"), 9),
        slot(2, &key("nobody"), message("reserved"), 9),
    ]);
    let names = [other.key.clone(), run.key.clone()];
    let before = names.clone().map(|run| scene.load(&run));
    let known = keys(&scene, &names[0]);
    assert_eq!((known.len(), before[0].queue.len()), (1, 1));
    let told = names.clone().map(|run| everything::told(&scene, &run));
    if let Some(scene) = scene.reopen() {
        assert_eq!(names.clone().map(|run| scene.load(&run)), before);
        assert_eq!(keys(&scene, &names[0]), known);
        assert_eq!(names.map(|run| everything::told(&scene, &run)), told);
    }
}

/// A unit's worth of large messages, and more runs than are mostly told at once.
pub fn large_and_many_sends_are_one_write(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let others: Vec<_> = (0..40)
        .map(|number| scene.begin(&format!("order-{number:02}")))
        .collect();
    let mut run = scene.begin("stock-7");
    let large = |bytes| {
        Observation::MessageArrived(Told {
            payload: value(bytes),
            ..told("reserved")
        })
    };
    let mut slots = Vec::new();
    for (place, other) in (0..).zip(&others) {
        for part in 0..10 {
            let bytes = if part == 0 { 100_000 } else { 20 };
            slots.push(slot(10 * place + part + 1, &other.key, large(bytes), 9));
        }
    }
    let committed = run.send(slots);
    assert_eq!((committed.rows.len(), committed.told.len()), (400, 400));
    let loaded = run.load();
    assert!(loaded.queue == committed.rows, "a result is another one");
    for other in &others {
        let there = other.load();
        let told = committed.told.iter().filter(|told| told.run == other.key);
        let rows: Vec<_> = told.map(|told| told.row.clone()).collect();
        assert!(
            there.queue == rows && rows.len() == 10,
            "a row is another one"
        );
        assert_eq!((there.head.inbox.messages, there.head.inbox.keys), (10, 10));
    }
    // All results are taken, and are gone.
    let mut taken: Vec<u64> = loaded.queue.iter().map(|row| row.arrival).collect();
    let last = run.head.sequence;
    run.commit(Changes {
        units: (last + 1..=last + 400)
            .map(|number| unit(number, 0))
            .collect(),
        taken: std::mem::take(&mut taken),
        ..no_changes()
    });
    assert!(run.load().queue.is_empty());
}
