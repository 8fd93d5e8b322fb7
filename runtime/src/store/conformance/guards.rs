//! Guards: who may write, and against what (S3, S42).

use perennial::RunKey;

use super::Factory;
use super::scene::{Scene, ack, key, no_changes, ok, put, raised, unit};
use crate::store::{Changes, Commit, Fence, Refusal, StoreError};

fn refused<T>(refusal: Refusal) -> Result<T, StoreError> {
    Err(StoreError::Refused(refusal))
}

fn moved<T>(run: &RunKey, given: (u64, u64), current: (u64, u64)) -> Result<T, StoreError> {
    refused(Refusal::Moved {
        run: run.clone(),
        given,
        current,
    })
}

/// For each kind of write.
pub fn a_run_that_is_not_there_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let nobody = key("nobody");
    let refusal = || Refusal::NoRun {
        run: nobody.clone(),
    };
    let commit = Commit {
        run: nobody.clone(),
        fence: Fence(1),
        generation: 1,
        sequence: 0,
        changes: no_changes(),
    };
    assert_eq!(scene.commit(commit), refused(refusal()));
    assert_eq!(scene.claim(&nobody, scene.owner), refused(refusal()));
    assert_eq!(ok(scene.store.load(&nobody)), None);
    assert!(ok(scene.store.history(&nobody, 1, 1, 9)).is_empty());
    assert!(ok(scene.store.attempts(&nobody, 1)).is_empty());
}

/// An older one and one that was never given out.
pub fn a_fence_of_another_owner_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let head = ok(scene.claim(&run.key, scene.owner));
    for given in [run.head.fence, raised(head.fence)] {
        let commit = Commit {
            fence: given,
            ..run.commit_of(no_changes())
        };
        let refusal = Refusal::Fenced {
            run: run.key.clone(),
            given,
            current: head.fence,
        };
        assert_eq!(scene.commit(commit), refused(refusal));
    }
}

/// An older one and one from the future.
pub fn an_old_sequence_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.grow(1);
    for sequence in [1, 3] {
        let commit = Commit {
            sequence,
            ..run.commit_of(no_changes())
        };
        assert_eq!(scene.commit(commit), moved(&run.key, (1, sequence), (1, 2)));
    }
}

/// Also where the sequence would fit.
pub fn another_generation_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let commit = Commit {
        generation: 2,
        ..run.commit_of(no_changes())
    };
    assert_eq!(scene.commit(commit), moved(&run.key, (2, 1), (1, 1)));
}

/// The first on the head, each on the one before it.
pub fn units_must_follow_on(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let gap = Changes {
        units: vec![unit(3, 0)],
        ..no_changes()
    };
    assert_eq!(run.try_commit(gap), moved(&run.key, (1, 2), (1, 1)));
    let again = Changes {
        units: vec![unit(2, 1), unit(3, 0)],
        ..no_changes()
    };
    assert_eq!(
        scene.commit(run.commit_of(again)),
        moved(&run.key, (1, 2), (1, 3))
    );
    assert_eq!(run.load().head.sequence, 1);
}

/// Of two writes on the same state that are handed over at once, the first is taken.
pub fn guards_hold_against_what_is_not_durable_yet(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    for round in 0..20 {
        let commit = |operation| Commit {
            sequence: 1 + round,
            ..run.commit_of(Changes {
                units: vec![unit(2 + round, 0)],
                tasks: vec![put(operation)],
                ..no_changes()
            })
        };
        let (first, second) = (scene.hand_over(commit(1)), scene.hand_over(commit(2)));
        ok(first.wait());
        assert_eq!(
            second.wait(),
            moved(&run.key, (1, 1 + round), (1, 2 + round))
        );
    }
    assert_eq!(run.load().tasks.len(), 1);
}

/// Each commit stands on the one before it, none of which has been acknowledged.
pub fn a_chain_may_be_handed_over_at_once(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let answers: Vec<_> = (0..100)
        .map(|_| {
            let commit = run.commit_of(Changes {
                units: vec![run.next_unit(1)],
                ..no_changes()
            });
            run.head.sequence += 2;
            scene.hand_over(commit)
        })
        .collect();
    answers
        .into_iter()
        .for_each(|answer| drop(ok(answer.wait())));
    assert_eq!(run.load().head.sequence, 201);
    assert_eq!(scene.units(&run.key, 1).len(), 101);
}

/// A claim that is not durable yet fences already.
pub fn a_claim_fences_what_was_handed_over_after_it(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    let before = scene.hand_over(run.commit_of(Changes {
        units: vec![unit(2, 0)],
        ..no_changes()
    }));
    let (claim_ack, claimed) = ack();
    scene.store.claim(run.key.clone(), scene.owner, claim_ack);
    let after = Commit {
        sequence: 2,
        ..run.commit_of(Changes {
            units: vec![unit(3, 0)],
            ..no_changes()
        })
    };
    let after = scene.hand_over(after);
    ok(before.wait());
    let head = ok(claimed.wait());
    assert_eq!((head.sequence, head.fence), (2, raised(run.head.fence)));
    assert!(matches!(
        after.wait(),
        Err(StoreError::Refused(Refusal::Fenced { .. }))
    ));
}

/// S42: a run goes from one owner to another and back. Whoever does not hold it can deliver to it, and
/// nothing else.
pub fn of_two_owners_only_the_last_can_write(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let other = ok(scene.store.enroll());
    let mut first = scene.begin("order-42");
    first.grow(1);
    let head = ok(scene.claim(&first.key, other));
    assert_eq!(head.owner, other);
    let mut second = super::scene::Run {
        scene: &scene,
        key: first.key.clone(),
        head,
    };
    let next = Changes {
        units: vec![first.next_unit(0)],
        ..no_changes()
    };
    assert!(matches!(
        first.try_commit(next),
        Err(StoreError::Refused(Refusal::Fenced { .. }))
    ));
    second.grow(2);
    ok(first.deliver(1));
    first.head = ok(scene.claim(&first.key, scene.owner));
    assert_eq!((first.head.sequence, first.head.fence), (4, Fence(3)));
    let next = Changes {
        units: vec![second.next_unit(0)],
        ..no_changes()
    };
    assert!(matches!(
        second.try_commit(next),
        Err(StoreError::Refused(Refusal::Fenced { .. }))
    ));
    first.grow(1);
    let loaded = first.load();
    assert_eq!(
        (loaded.head.owner, loaded.head.sequence, loaded.queue.len()),
        (scene.owner, 5, 1)
    );
}
