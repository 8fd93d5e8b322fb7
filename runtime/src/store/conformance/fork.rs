//! Runs that are forks of others: they come with a history, and go on from there (M43).

use perennial::RunKey;
use perennial::history::{Channel, Decision, ForkedFrom, Observation, StreamEnd, Told, Unit};
use perennial::value::Value;

use super::Factory;
use super::inbox::{message, send};
use super::scene::{Run, Scene, at, create, first_unit, key, ok, put, task, unit, value};
use super::{offers, slots, streams};
use crate::store::{
    Awaited, Changes, Create, Created, DueTimer, Refusal, StoreError, StreamRange, TimerChange,
};

/// The units of a run that is one of another: it was told something that it has not taken, took what it had been told
/// before, gives out an item, and goes on for so many units.
fn units(run: &RunKey, more: u64, bytes: usize) -> Vec<Unit> {
    let mut begun = first_unit(run, 1);
    if let Observation::Started(started) = &mut begun.observation {
        started.streams = vec![StreamEnd {
            name: "output".into(),
            last: 5,
        }];
        started.forked_from = vec![ForkedFrom {
            run: key("other").id,
            last: 5 + more,
        }];
    }
    let told = |number| {
        Observation::MessageArrived(Told {
            number,
            ..super::inbox::told("approval")
        })
    };
    let taken = Decision::Received {
        operation: 1,
        channel: Channel::Message,
        number: 3,
        invalid: None,
    };
    let mut units = vec![begun];
    for (observation, decisions) in [
        (
            told(3),
            vec![taken, streams::item("output", 6, value(bytes))],
        ),
        (told(7), vec![]),
    ] {
        units.push(Unit {
            observation,
            decisions,
            ..unit(units.last().map_or(1, |unit| unit.last() + 1), 0)
        });
    }
    units.extend((6..6 + more).map(|number| unit(number, 0)));
    units
}

fn fork(scene: &Scene, name: &str, more: u64, bytes: usize) -> Create {
    let run = key(name);
    let timer = TimerChange::Put {
        operation: 4,
        deadline: at(90),
    };
    let changes = Changes {
        units: units(&run, more, bytes),
        tasks: vec![put(2)],
        timers: vec![timer],
        offers: vec![offers::open(1, 3)],
        awaited: Some(Awaited::of([(Channel::Message, "approval")])),
        next_operation: Some(9),
        stamp: at(20),
        ..Changes::default()
    };
    create(&run, scene.owner, changes)
}

/// A fork, for those who look at runs of all kinds.
pub(super) fn make<'a>(scene: &'a Scene, name: &str) -> Run<'a> {
    match ok(scene.create(fork(scene, name, 2, 10))) {
        Created::New(head, _) => Run {
            scene,
            key: key(name),
            head,
        },
        Created::Exists(_) => panic!("{name} is there already"),
    }
}

/// All of it is one write, and numbers are counted on from what it has.
pub fn m43_a_fork_has_its_history_and_an_empty_inbox(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = make(&scene, "fork");
    let loaded = run.load();
    let head = &loaded.head;
    assert_eq!(loaded.head, run.head);
    assert_eq!((head.generation, head.sequence, head.arrivals), (1, 7, 7));
    assert_eq!(
        (head.created, head.stamp, head.next_operation),
        (at(20), at(20), 9)
    );
    assert_eq!(
        (head.inbox.messages, head.inbox.offers, head.inbox.keys),
        (0, 1, 0)
    );
    assert!(loaded.queue.is_empty() && loaded.blocked.is_empty());
    assert_eq!(
        (loaded.tasks, loaded.timers),
        (vec![task(2)], vec![(4, at(90))])
    );
    assert_eq!(scene.units(&run.key, 1), units(&run.key, 2, 10));
    let due = DueTimer {
        deadline: at(90),
        run: run.key.clone(),
        operation: 4,
    };
    assert_eq!(ok(scene.store.due(None, 9)), [due]);
    assert_eq!(ok(scene.store.claimable("one", None, 9)), [run.key.clone()]);
    let open = ok(scene.store.waiting(&Default::default(), None, 9));
    assert_eq!((open.len(), open[0].offer.operation), (1, 3));
    // What it is told is numbered on.
    let sent = ok(scene.send(send(&run.key, message("approval"))));
    assert_eq!((sent.arrival, sent.wakes), (8, true));
    assert_eq!(run.load().head.inbox.messages, 1);
    run.grow(2);
}

/// Also those that the other run had given out before its history began.
pub fn m43_items_of_a_fork_are_counted_on(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = make(&scene, "fork");
    let expected = StreamRange {
        name: "output".into(),
        first: 6,
        last: 6,
    };
    assert_eq!(run.head.streams, [expected]);
    streams::emit(&mut run, "output", 7..=8);
    let items = streams::read(&scene, &run.key, "output");
    let numbers: Vec<_> = items.iter().map(|item| item.number).collect();
    assert_eq!(numbers, [6, 7, 8]);
    // A first item that does not follow on what there was is refused.
    let mut other = fork(&scene, "other-fork", 2, 10);
    let name = other.run.clone();
    other.changes.units[1].decisions[1] = streams::item("output", 9, Value::null());
    let refused = scene.create(other);
    assert!(
        matches!(
            refused,
            Err(StoreError::Refused(Refusal::Inconsistent { .. }))
        ),
        "{refused:?}"
    );
    assert_eq!(ok(scene.store.head(&name)), None);
}

/// Of two of them one is made; nothing is changed in a run that is there.
pub fn a_fork_is_made_once(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = make(&scene, "fork");
    let before = run.load();
    let again = ok(scene.create(fork(&scene, "fork", 3, 10)));
    assert_eq!(again, Created::Exists(before.head.clone()));
    assert_eq!(run.load(), before);
    assert_eq!(scene.units(&run.key, 1).len(), 5);
}

/// What was under way when it was forked is sent, under a key of its own.
pub fn a_fork_may_begin_with_a_send(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let other = scene.begin("stock-7");
    for name in ["fork", "another"] {
        let mut create = fork(&scene, name, 2, 10);
        create.changes.slots = vec![slots::slot(5, &other.key, message("reserved"), 20)];
        let Created::New(head, committed) = ok(scene.create(create)) else {
            panic!("{name} is new")
        };
        // The result waits for it.
        assert_eq!((head.arrivals, committed.rows.len()), (8, 1));
        assert_eq!(committed.told.len(), 1);
    }
    assert_eq!(other.load().queue.len(), 2);
}

/// A large history is whole or not there, as any write.
pub fn a_large_fork_is_one_write(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let create = fork(&scene, "fork", 5_000, 200_000);
    let Created::New(head, _) = ok(scene.create(create)) else {
        panic!("it is new")
    };
    assert_eq!(head.sequence, 5_005);
    let expected = units(&key("fork"), 5_000, 200_000);
    assert!(
        scene.units(&key("fork"), 1) == expected,
        "a unit is another one"
    );
    let Some(scene) = scene.reopen() else {
        return;
    };
    assert_eq!(scene.load(&key("fork")).head, head);
    assert!(
        scene.units(&key("fork"), 1) == expected,
        "a unit is another one"
    );
    assert_eq!(streams::read(&scene, &key("fork"), "output").len(), 1);
}

/// When it has ended it begins anew as any other, and goes on with the numbers.
pub fn a_fork_ends_and_begins_anew_like_any_other(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = make(&scene, "fork");
    ok(scene.send(send(&run.key, message("approval"))));
    run.end();
    assert_eq!(run.load().head.inbox.offers, 0);
    run.begin_anew();
    let head = run.load().head;
    assert_eq!(
        (head.generation, head.arrivals, head.inbox.messages),
        (2, 8, 0)
    );
    assert_eq!(head.streams[0].last, 6);
    let sent = ok(scene.send(send(&run.key, message("approval"))));
    assert_eq!(sent.arrival, 9);
    run.grow(1);
}
