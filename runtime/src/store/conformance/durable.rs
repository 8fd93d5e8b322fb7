//! What is left when the store is opened again, and what a closed one says.

use super::Factory;
use super::scene::{Scene, ack, at, completed, create, deliver, key, no_changes, ok, put, value};
use crate::store::{
    AttemptOutcome, AttemptRecord, BlockedChange, BlockedRecord, Changes, Create, Created,
    ListQuery, StoreError, TimerChange,
};

/// Everything of every kind, small and large.
pub fn what_was_acknowledged_is_there_after_reopening(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    for (name, bytes) in [("small", 10), ("large", 20_000)] {
        let mut run = scene.begin(name);
        run.grow(2);
        run.end();
        let next = Create {
            after: Some(1),
            ..create(&run.key, scene.owner, no_changes())
        };
        let Created::New(head) = ok(scene.create(next)) else {
            panic!("it follows")
        };
        run.head = head;
        let text = "x".repeat(bytes);
        let outcome = AttemptOutcome::Failed {
            error: text.clone(),
        };
        let record = BlockedRecord {
            artifact: "one".into(),
            unfit: true,
            code: "PR001".into(),
            text,
            details: value(bytes),
            at: at(3),
        };
        run.commit(Changes {
            units: vec![run.next_unit(bytes / 100)],
            enqueue: vec![completed(1, value(bytes))],
            tasks: (1..bytes as u64 / 5).map(put).collect(),
            timers: (1..bytes as u64 / 5)
                .map(|operation| TimerChange::Put {
                    operation,
                    deadline: at(operation),
                })
                .collect(),
            attempts: vec![AttemptRecord {
                operation: 1,
                attempt: 1,
                outcome,
                at: at(3),
            }],
            blocked: Some(BlockedChange::Put(record)),
            ..no_changes()
        });
    }
    let look = |scene: &Scene| {
        let runs = ["small", "large"].map(|name| {
            let run = key(name);
            let units = [1, 2].map(|generation| scene.units(&run, generation));
            (scene.load(&run), units, ok(scene.store.attempts(&run, 2)))
        });
        let query = ListQuery {
            limit: 9,
            ..ListQuery::default()
        };
        let lists = (
            ok(scene.store.list(&query)),
            ok(scene.store.due(None, usize::MAX)),
            ok(scene.store.claimable("one", None, 9)),
            ok(scene.store.claimable("two", None, 9)),
        );
        (runs, lists)
    };
    let before = look(&scene);
    let Some(scene) = scene.reopen() else { return };
    let after = look(&scene);
    assert!(before == after, "something changed");
}

/// It would otherwise take the attempts of the process before for its own (S20).
pub fn an_owner_is_new_after_reopening(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let before = scene.owner;
    if let Some(scene) = scene.reopen() {
        assert!(ok(scene.store.enroll()) > before);
    }
}

/// Guards and numbers stand where they stood.
pub fn writes_go_on_after_reopening(factory: Factory<'_>) {
    let mut scene = Scene::new(factory);
    for round in 0..5 {
        let name = format!("run-{round}");
        scene.begin(&name);
        for earlier in 0..=round {
            let run = key(&format!("run-{earlier}"));
            let head = ok(scene.claim(&run, scene.owner));
            let mut run = super::scene::Run {
                scene: &scene,
                key: run,
                head,
            };
            run.grow(1);
            assert_eq!(ok(run.deliver(1)), round + 1 - earlier);
        }
        let Some(again) = scene.reopen() else { return };
        scene = again;
    }
    assert_eq!(scene.load(&key("run-0")).head.sequence, 6);
    assert_eq!(scene.units(&key("run-0"), 1).len(), 6);
}

/// Writes and reads are told that it is closed; none stays without an answer.
pub fn a_closed_store_takes_nothing(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let pending = scene.hand_over(run.commit_of(no_changes()));
    ok(scene.store.close());
    ok(pending.wait());
    let closed = |error: Option<StoreError>| matches!(error, Some(StoreError::Closed { .. }));
    assert!(closed(
        scene
            .create(create(&key("other"), scene.owner, no_changes()))
            .err()
    ));
    assert!(closed(scene.commit(run.commit_of(no_changes())).err()));
    assert!(closed(scene.deliver(deliver(&run.key, 1, at(1))).err()));
    assert!(closed(scene.claim(&run.key, scene.owner).err()));
    assert!(closed(scene.store.enroll().err()));
    assert!(closed(scene.store.load(&run.key).err()));
    assert!(closed(scene.store.history(&run.key, 1, 1, 1).err()));
    assert!(closed(scene.store.due(None, 1).err()));
}

/// Nor does closing while others write.
pub fn closing_twice_does_no_harm(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let answers = std::thread::scope(|threads| {
        let writing = threads.spawn(|| {
            let hand_over = |_| {
                let (ack, answer) = ack();
                scene.store.deliver(deliver(&run.key, 1, at(1)), ack);
                answer
            };
            (0..200).map(hand_over).collect::<Vec<_>>()
        });
        ok(scene.store.close());
        writing.join().unwrap_or_default()
    });
    ok(scene.store.close());
    let mut closed = false;
    for answer in answers {
        match answer.wait() {
            Ok(_) => assert!(!closed, "a write was taken after one was refused"),
            Err(StoreError::Closed { .. }) => closed = true,
            Err(error) => panic!("{error}"),
        }
    }
}
