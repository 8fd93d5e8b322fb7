//! What is left when the store is opened again, and what a closed one says.

use super::scene::{Scene, ack, at, create, deliver, key, no_changes, ok};
use super::{Factory, everything};
use crate::store::{Remains, Restore, StoreError};

/// Everything of every kind, small and large.
pub fn what_was_acknowledged_is_there_after_reopening(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    everything::make(&scene);
    let before = everything::look(&scene);
    let Some(scene) = scene.reopen() else { return };
    let after = everything::look(&scene);
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
    assert!(closed(scene.store.head(&run.key).err()));
    assert!(closed(scene.purge(run.purge_of(1)).err()));
    let give_up = Restore::GiveUp {
        run: run.key.clone(),
    };
    assert!(closed(scene.restore(give_up).err()));
    assert!(closed(
        scene.store.finished(Remains::Whole, at(9), None, 1).err()
    ));
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
