//! Runs that have finished: in the order of their ends, and taken away (S26).

use perennial::RunKey;

use super::Factory;
use super::scene::{Run, Scene, at, completed, key, no_changes, ok, put, unit, value};
use crate::store::{
    AttemptOutcome, AttemptRecord, BlockedChange, BlockedRecord, Changes, Created, FinishedRun,
    Head, Keep, Loaded, Progress, Purge, Purged, Refusal, Remains, Status, StoreError, TaskChange,
    TimerChange,
};

fn refused<T>(refusal: Refusal) -> Result<T, StoreError> {
    Err(StoreError::Refused(refusal))
}

fn finished(scene: &Scene, remains: Remains) -> Vec<RunKey> {
    let runs = ok(scene
        .store
        .finished(remains, at(u64::MAX), None, usize::MAX));
    runs.into_iter().map(|run| run.run).collect()
}

/// Ends a run at a time.
fn end_at(run: &mut Run<'_>, time: u64) {
    let mut unit = unit(run.head.sequence + 1, 0);
    unit.at = at(time);
    run.commit(Changes {
        units: vec![unit],
        status: Some(Status::Failed),
        stamp: at(time),
        ..no_changes()
    });
}

/// A finished run with something of every kind beside its history.
fn full(scene: &Scene) -> Run<'_> {
    let mut run = scene.begin("order-42");
    run.grow(3);
    let record = BlockedRecord {
        artifact: "one".into(),
        unfit: false,
        code: "PR001".into(),
        text: "x".repeat(9_000),
        details: value(9),
        at: at(4),
    };
    let outcome = AttemptOutcome::Lost;
    run.commit(Changes {
        enqueue: vec![completed(1, value(9)), completed(2, value(9_000))],
        timers: (1..=100)
            .map(|operation| TimerChange::Put {
                operation,
                deadline: at(operation),
            })
            .collect(),
        attempts: vec![AttemptRecord {
            operation: 1,
            attempt: 1,
            outcome,
            at: at(2),
        }],
        blocked: Some(BlockedChange::Put(record)),
        ..no_changes()
    });
    run.end();
    run
}

/// Nothing of the run is left.
fn assert_bare(run: &Run<'_>) {
    let Run { scene, key, .. } = run;
    for generation in 1..=run.head.generation {
        assert!(scene.units(key, generation).is_empty());
        assert!(ok(scene.store.attempts(key, generation)).is_empty());
    }
    assert!(ok(scene.store.due(None, 1)).is_empty());
    assert!(ok(scene.store.claimable("one", None, 1)).is_empty());
}

/// With the digest of its input, how it ended, and when it was purged.
pub fn a_purge_leaves_the_head_alone(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = full(&scene);
    let before = run.load().head;
    run.purge(Keep::Head);
    assert_bare(&run);
    let purged = Purged {
        at: at(50),
        complete: true,
    };
    let expected = Head {
        purged: Some(purged),
        kept_from: 2,
        blocked: false,
        ..before
    };
    assert_eq!(run.load(), Loaded::alone(expected));
}

/// There was no such run then: one of its name is a new one.
pub fn a_purge_may_take_the_head_too(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = full(&scene);
    run.purge(Keep::Nothing);
    assert_bare(&run);
    assert_eq!(ok(scene.store.head(&run.key)), None);
    assert_eq!(ok(scene.store.load(&run.key)), None);
    let nobody = Refusal::NoRun {
        run: run.key.clone(),
    };
    assert_eq!(scene.purge(run.purge_of(1)), refused(nobody));
    let mut again = scene.begin("order-42");
    assert_eq!(again.head.generation, 1);
    again.grow(1);
    assert_eq!(scene.units(&again.key, 1).len(), 2);
    assert!(again.load().queue.is_empty());

    // Also where the rest has gone before.
    again.end();
    again.purge(Keep::Head);
    again.purge(Keep::Nothing);
    assert_eq!(ok(scene.store.head(&again.key)), None);
    let finished = [Remains::Whole, Remains::Head].map(|remains| finished(&scene, remains));
    assert_eq!(finished, [vec![], vec![]]);
}

/// Those of its earlier generations too.
pub fn all_generations_are_purged(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = full(&scene);
    run.begin_anew();
    run.grow(4);
    run.end();
    run.purge(Keep::Head);
    assert_bare(&run);
    assert_eq!(run.load().head.kept_from, 3);
}

/// A running one, and one that is not there.
pub fn what_has_not_finished_is_not_purged(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.grow(1);
    let before = run.load();
    let unfinished = Refusal::Unfinished {
        run: run.key.clone(),
    };
    assert_eq!(scene.purge(run.purge_of(9)), refused(unfinished));
    assert_eq!(run.load(), before);
    assert_eq!(scene.units(&run.key, 1).len(), 2);
    let nobody = Purge {
        run: key("nobody"),
        ..run.purge_of(9)
    };
    let refusal = Refusal::NoRun { run: key("nobody") };
    assert_eq!(scene.purge(nobody), refused(refusal));
}

/// Somebody else may have begun it anew meanwhile.
pub fn a_purge_of_another_state_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = full(&scene);
    let (generation, sequence) = (run.head.generation, run.head.sequence);
    for given in [(generation, sequence - 1), (generation + 1, sequence)] {
        let purge = Purge {
            generation: given.0,
            sequence: given.1,
            ..run.purge_of(9)
        };
        let refusal = Refusal::Moved {
            run: run.key.clone(),
            given,
            current: (generation, sequence),
        };
        assert_eq!(scene.purge(purge), refused(refusal));
    }
    let before = run.purge_of(9);
    run.begin_anew();
    assert!(matches!(
        scene.purge(before),
        Err(StoreError::Refused(Refusal::Moved { .. }))
    ));
    assert_eq!(scene.units(&run.key, 1).len(), 5);
}

/// S12: dispatched work is still the run's, and what it comes to is shown.
pub fn a_run_with_open_tasks_is_not_purged(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let many = (1..=60).map(put);
    run.commit(Changes {
        tasks: many.collect(),
        ..no_changes()
    });
    run.end();
    let refusal = Refusal::OpenTasks {
        run: run.key.clone(),
        tasks: 60,
    };
    assert_eq!(scene.purge(run.purge_of(9)), refused(refusal));
    run.commit(Changes {
        tasks: (1..=60).map(TaskChange::Remove).collect(),
        ..no_changes()
    });
    run.purge(Keep::Head);
}

/// From the first one on nothing is shown but the head, and its place in the order of ends.
pub fn a_purge_is_done_in_slices(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = full(&scene);
    let mut slices = 1;
    while ok(scene.purge(run.purge_of(2))) == Progress::More {
        slices += 1;
        let head = run.load().head;
        assert_eq!(run.load(), Loaded::alone(head.clone()));
        let marked = Purged {
            at: at(50),
            complete: false,
        };
        assert_eq!((head.purged, head.kept_from), (Some(marked), 2));
        assert!(scene.units(&run.key, 1).is_empty());
        assert!(ok(scene.store.attempts(&run.key, 1)).is_empty());
        assert_eq!(
            finished(&scene, Remains::Whole),
            std::slice::from_ref(&run.key)
        );
        assert!(finished(&scene, Remains::Head).is_empty());
    }
    // Five units, two rows, an attempt and a blocked record at the least.
    assert!(slices >= 5, "{slices}");
    assert!(finished(&scene, Remains::Whole).is_empty());
    assert_eq!(
        finished(&scene, Remains::Head),
        std::slice::from_ref(&run.key)
    );
    assert_bare(&run);
}

/// By whoever finds it, in this process or the next; the time of the purge stays.
pub fn an_interrupted_purge_is_gone_on_with(factory: Factory<'_>) {
    for reopened in [false, true] {
        let mut scene = Scene::new(factory);
        let run = full(&scene);
        for _ in 0..3 {
            assert_eq!(ok(scene.purge(run.purge_of(1))), Progress::More);
        }
        let (key, head) = (run.key.clone(), run.head.clone());
        if reopened {
            let Some(again) = scene.reopen() else { return };
            scene = again;
        }
        assert_eq!(finished(&scene, Remains::Whole), std::slice::from_ref(&key));
        let run = Run {
            scene: &scene,
            key,
            head,
        };
        let later = Purge {
            at: at(99),
            limit: usize::MAX,
            ..run.purge_of(1)
        };
        while ok(scene.purge(later.clone())) == Progress::More {}
        assert_bare(&run);
        let purged = Purged {
            at: at(50),
            complete: true,
        };
        assert_eq!(run.load().head.purged, Some(purged));
    }
}

/// Its numbers are counted on; what was purged stays away.
pub fn a_purged_run_begins_anew(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = full(&scene);
    let before = run.load().head;
    run.purge(Keep::Head);
    run.begin_anew();
    run.grow(1);
    assert_eq!((run.head.generation, run.head.kept_from), (2, 2));
    assert_eq!(
        (run.head.purged, run.head.arrivals),
        (None, before.arrivals)
    );
    assert!(scene.units(&run.key, 1).is_empty());
    assert_eq!(scene.units(&run.key, 2).len(), 2);
    let kept = [Remains::Whole, Remains::Head].map(|remains| finished(&scene, remains));
    assert_eq!(kept, [vec![], vec![]]);
    run.end();
    assert_eq!(
        finished(&scene, Remains::Whole),
        std::slice::from_ref(&run.key)
    );
    run.purge(Keep::Head);
    assert_bare(&run);
}

/// The new generation has nothing of what the purge had not come to, and the purge is over.
pub fn a_run_may_begin_anew_half_way_through_its_purge(factory: Factory<'_>) {
    for slices in [1, 3, 5] {
        let scene = Scene::new(factory);
        let mut run = full(&scene);
        for _ in 0..slices {
            assert_eq!(ok(scene.purge(run.purge_of(1))), Progress::More);
        }
        let before = run.purge_of(1);
        run.begin_anew();
        assert!(matches!(
            scene.purge(before),
            Err(StoreError::Refused(Refusal::Moved { .. }))
        ));
        let loaded = run.load();
        assert_eq!(loaded, Loaded::alone(loaded.head.clone()));
        assert!(ok(scene.store.due(None, 1)).is_empty());
        run.grow(2);
        assert!(scene.units(&run.key, 1).is_empty());
        assert_eq!(scene.units(&run.key, 2).len(), 3);
        run.end();
        run.purge(Keep::Nothing);
        assert_bare(&run);
    }
}

/// Whoever still holds it has nothing to add.
pub fn a_purged_run_takes_nothing(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = full(&scene);
    ok(scene.purge(run.purge_of(1)));
    let refusal = Refusal::Purged {
        run: run.key.clone(),
        at: at(50),
    };
    let changes = Changes {
        tasks: vec![put(1)],
        ..no_changes()
    };
    assert_eq!(run.try_commit(changes), refused(refusal));
    let ended = Refusal::Finished {
        run: run.key.clone(),
    };
    assert_eq!(run.deliver(1), refused(ended));
}

/// It is answered as the first was.
pub fn a_second_purge_changes_nothing(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = full(&scene);
    run.purge(Keep::Head);
    let before = run.load();
    let again = Purge {
        at: at(99),
        ..run.purge_of(9)
    };
    assert_eq!(ok(scene.purge(again)), Progress::Done);
    assert_eq!(run.load(), before);
}

/// With chunks, many units, and more rows and timers than fit beside a head.
pub fn a_large_run_is_purged_in_slices(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.grow(1_200);
    for _ in 0..3 {
        let first = run.next_unit(0);
        run.commit(Changes {
            units: vec![perennial::history::Unit {
                observation: completed(1, value(900_000)),
                ..first
            }],
            ..no_changes()
        });
    }
    run.commit(Changes {
        enqueue: (0..600).map(|_| completed(1, value(200))).collect(),
        timers: (1..=600)
            .map(|operation| TimerChange::Put {
                operation,
                deadline: at(operation),
            })
            .collect(),
        ..no_changes()
    });
    run.end();
    run.purge(Keep::Head);
    assert_bare(&run);
    run.begin_anew();
    assert!(run.load().queue.is_empty());
}

/// And then of their keys, over all namespaces; a page goes on after any of them.
pub fn finished_runs_are_listed_in_the_order_of_their_ends(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    for (namespace, name, time) in [
        ("default", "b", 30),
        ("default", "a", 30),
        ("b", "c", 10),
        ("a", "d", 300),
        ("a", "e", 30),
    ] {
        end_at(&mut scene.begin_in(namespace, name), time);
    }
    scene.begin("running");
    let list = |before, after: Option<&FinishedRun>, limit| {
        ok(scene
            .store
            .finished(Remains::Whole, at(before), after, limit))
    };
    let all = list(u64::MAX, None, 9);
    let times: Vec<u64> = all.iter().map(|run| run.at.as_millis()).collect();
    assert_eq!(times, [10, 30, 30, 30, 300]);
    assert!(all.is_sorted());
    assert_eq!(list(30, None, 9), all[..1]);
    assert_eq!(list(31, None, 9), all[..4]);
    assert_eq!(list(u64::MAX, None, 2), all[..2]);
    assert_eq!(list(u64::MAX, Some(&all[1]), 2), all[2..4]);
    assert_eq!(list(30, Some(&all[3]), 2), []);
    assert_eq!(list(0, None, 2), []);
}

/// Those of which the head is left are listed by the time of their purge; one that begins anew is in no list.
pub fn a_run_stands_in_one_list_of_finished_ones(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    end_at(&mut run, 20);
    let list = |remains| {
        let runs = ok(scene.store.finished(remains, at(u64::MAX), None, 9));
        runs.into_iter()
            .map(|run| run.at.as_millis())
            .collect::<Vec<_>>()
    };
    let none: [Vec<u64>; 2] = [vec![], vec![]];
    let lists = || [list(Remains::Whole), list(Remains::Head)];
    assert_eq!(lists(), [vec![20], vec![]]);
    run.purge(Keep::Head);
    assert_eq!(lists(), [vec![], vec![50]]);
    run.begin_anew();
    assert_eq!(lists(), none);
    end_at(&mut run, 70);
    assert_eq!(lists(), [vec![70], vec![]]);
    run.begin_anew();
    assert_eq!(lists(), none);
}

/// One that ends with its creation.
pub fn a_run_that_ends_at_once_is_listed_too(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = key("order-42");
    let changes = Changes {
        units: vec![super::scene::first_unit(&run, 1)],
        status: Some(Status::Completed),
        ..no_changes()
    };
    let created = ok(scene.create(super::scene::create(&run, scene.owner, changes)));
    assert!(matches!(created, Created::New(..)));
    assert_eq!(finished(&scene, Remains::Whole), [run]);
}
