//! Moving a run to a new one: one write, both runs (S38).

use perennial::RunId;
use perennial::history::{Migrated, Observation, Unit};
use perennial::value::Value;

use super::Factory;
use super::scene::{
    Run, Scene, ack, at, completed, create, first_unit, key, no_changes, ok, put, raised, value,
};
use crate::store::{
    AttemptOutcome, AttemptRecord, BlockedChange, BlockedRecord, Changes, Created, Fence,
    ListQuery, Loaded, Migrate, Refusal, Remains, Restore, Status, StoreError, TaskChange,
    TimerChange,
};

fn id(name: &str) -> RunId {
    key(name).id
}

/// A run with something of everything beside its history, and what a migration has to end.
fn old(scene: &Scene) -> Run<'_> {
    let mut run = scene.begin("old");
    run.grow(2);
    let record = BlockedRecord {
        artifact: "one".into(),
        unfit: true,
        code: "H201".into(),
        text: "changed".into(),
        details: Value::null(),
        at: at(2),
    };
    run.commit(Changes {
        tasks: vec![put(1), put(2)],
        timers: vec![TimerChange::Put {
            operation: 3,
            deadline: at(9),
        }],
        blocked: Some(BlockedChange::Put(record)),
        next_operation: Some(5),
        ..no_changes()
    });
    ok(run.deliver(4));
    run
}

fn moved(number: u64, to: &RunId) -> Unit {
    Unit {
        number,
        at: at(7),
        observation: Observation::Migrated(Migrated {
            to: to.clone(),
            workflow: "order_v2".into(),
            migration: "to_v2".into(),
            artifact: "test".into(),
            kept: Vec::new(),
            stopped: vec![3],
            unstarted: None,
        }),
        decisions: Vec::new(),
    }
}

/// The old run ends, one of its tasks goes on, and the new run begins with a row.
pub(super) fn migrate(run: &Run<'_>, to: &str) -> Migrate {
    let to = id(to);
    let late = AttemptRecord {
        operation: 4,
        attempt: 0,
        outcome: AttemptOutcome::Late {
            result: Value::null(),
        },
        at: at(7),
    };
    let changes = Changes {
        units: vec![moved(run.head.sequence + 1, &to)],
        taken: vec![1],
        tasks: vec![TaskChange::Remove(2)],
        timers: vec![TimerChange::Remove {
            operation: 3,
            deadline: at(9),
        }],
        attempts: vec![late],
        blocked: Some(BlockedChange::Clear),
        stamp: at(7),
        ..Changes::default()
    };
    Migrate {
        end: run.commit_of(changes),
        to,
        workflow: "order_v2".into(),
        input: value(9).digest(),
        owner: run.scene.owner,
        begin: Changes {
            enqueue: vec![first_unit(&key("new"), 1).observation],
            stamp: at(7),
            ..Changes::default()
        },
    }
}

/// All that a store tells of both runs.
type Both = [Option<(Loaded, Vec<Unit>, Vec<AttemptRecord>)>; 2];

fn both(scene: &Scene) -> Both {
    ["old", "new"].map(|name| {
        let loaded = ok(scene.store.load(&key(name)))?;
        let generation = loaded.head.generation;
        let attempts = ok(scene.store.attempts(&key(name), generation));
        Some((loaded, scene.units(&key(name), generation), attempts))
    })
}

#[track_caller]
fn refused(scene: &Scene, migrate: Migrate, refusal: Refusal) {
    assert_eq!(scene.migrate(migrate), Err(StoreError::Refused(refusal)));
}

/// The old one is ended, with all that the commit says; the new one is there, with its first row; and the
/// lists say so.
pub fn a_migration_changes_both_runs(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = old(&scene);
    let Created::New(head, _) = ok(scene.migrate(migrate(&run, "new"))) else {
        panic!("it was not there before")
    };
    let [Some((old, units, attempts)), Some((new, begun, _))] = both(&scene) else {
        panic!("both are there")
    };
    assert_eq!(new.head, head);
    assert_eq!(
        (head.workflow.as_str(), head.input, head.status),
        ("order_v2", value(9).digest(), Status::Running)
    );
    assert_eq!(
        (head.generation, head.sequence, head.arrivals, head.fence),
        (1, 0, 1, Fence(1))
    );
    assert_eq!(
        (head.owner, head.created, head.migrated_to),
        (scene.owner, at(7), None)
    );
    assert_eq!(
        new.queue[0].observation,
        first_unit(&key("new"), 1).observation
    );
    assert!(begun.is_empty());

    assert_eq!(
        (old.head.status, old.head.finished, old.head.sequence),
        (Status::Migrated, Some(at(7)), run.head.sequence + 1)
    );
    assert_eq!(
        (old.head.migrated_to, old.head.blocked),
        (Some(id("new")), false)
    );
    assert_eq!(
        units.last(),
        Some(&moved(run.head.sequence + 1, &id("new")))
    );
    assert_eq!(attempts.len(), 1);
    assert_eq!(old.tasks.len(), 1);
    assert!(old.timers.is_empty() && old.queue.is_empty() && old.blocked.is_empty());

    let store = &scene.store;
    assert_eq!(
        ok(store.claimable("one", None, 9)),
        [key("new"), key("old")],
        "one has a row and the other a task"
    );
    assert!(ok(store.due(None, 9)).is_empty());
    let finished = ok(store.finished(Remains::Whole, at(8), None, 9));
    assert_eq!(finished.len(), 1);
    assert_eq!((&finished[0].run, finished[0].at), (&key("old"), at(7)));
    let listed = ok(store.list(&ListQuery {
        status: Some(Status::Migrated),
        limit: 9,
        ..ListQuery::default()
    }));
    assert_eq!(listed.runs.len(), 1);
}

/// Whatever it is refused for: the old run goes on, and there is no new one.
pub fn a_refused_migration_changes_neither_run(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = old(&scene);
    let before = both(&scene);
    let mut too_long = migrate(&run, "new");
    too_long.workflow = "x".repeat(2_000);
    let mut large = migrate(&run, "new");
    let too_much = std::iter::repeat_with(|| value(1 << 20)).take(17);
    large.begin.units = vec![Unit {
        decisions: too_much
            .map(|value| perennial::history::Decision::Completed {
                value,
                open: Vec::new(),
            })
            .collect(),
        ..first_unit(&key("new"), 1)
    }];
    let mut gap = migrate(&run, "new");
    gap.end.changes.units[0].number += 1;
    for wrong in [too_long, large, gap] {
        assert!(scene.migrate(wrong).is_err());
        assert!(both(&scene) == before, "something was changed");
    }
    run.grow(1);
    ok(scene.migrate(migrate(&run, "new")));
}

/// As of any commit: fence, generation, last event, and a run that is there and has not ended.
pub fn guards_of_a_migration_hold(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = old(&scene);
    let before = both(&scene);
    let mut nobody = migrate(&run, "new");
    nobody.end.run = key("nobody");
    let there_is_none = Refusal::NoRun { run: key("nobody") };
    refused(&scene, nobody, there_is_none);
    let (mut fenced, fence) = (migrate(&run, "new"), run.head.fence);
    fenced.end.fence = raised(fence);
    let refusal = Refusal::Fenced {
        run: key("old"),
        given: raised(fence),
        current: fence,
    };
    refused(&scene, fenced, refusal);
    let mut behind = migrate(&run, "new");
    behind.end.sequence -= 1;
    let refusal = Refusal::Moved {
        run: key("old"),
        given: (1, run.head.sequence - 1),
        current: (1, run.head.sequence),
    };
    refused(&scene, behind, refusal);
    assert!(both(&scene) == before, "something was changed");

    // What was handed over before counts, durable or not.
    let late = migrate(&run, "new");
    let commit = run.commit_of(Changes {
        units: vec![run.next_unit(0)],
        ..no_changes()
    });
    let (commits, (ack, answer)) = (scene.hand_over(commit), ack());
    scene.store.migrate(late, ack);
    ok(commits.wait());
    assert!(matches!(
        answer.wait(),
        Err(StoreError::Refused(Refusal::Moved { .. }))
    ));
    run.head.sequence += 1;
    ok(scene.claim(&run.key, scene.owner));
    let refusal = Refusal::Fenced {
        run: key("old"),
        given: run.head.fence,
        current: raised(run.head.fence),
    };
    refused(&scene, migrate(&run, "new"), refusal);
    run.head = run.load().head;
    run.end();
    refused(
        &scene,
        migrate(&run, "new"),
        Refusal::Finished { run: key("old") },
    );
    assert_eq!(ok(scene.store.load(&key("new"))), None);
}

/// Another run, the run itself, and one that is just being put back.
pub fn a_target_that_is_there_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = old(&scene);
    scene.begin("taken");
    let restored = key("restored");
    ok(scene.restore(Restore::History {
        run: restored.clone(),
        generation: 1,
        units: vec![first_unit(&restored, 1)],
        attempts: Vec::new(),
        end: None,
    }));
    let before = both(&scene);
    for name in ["taken", "old"] {
        refused(
            &scene,
            migrate(&run, name),
            Refusal::Exists { run: key(name) },
        );
    }
    refused(
        &scene,
        migrate(&run, "restored"),
        Refusal::Restoring { run: restored },
    );
    assert!(both(&scene) == before, "something was changed");
    ok(scene.migrate(migrate(&run, "new")));
}

/// Whoever got no answer asks again, with what it knew. Another migration of the run is not the same.
pub fn a_repeated_migration_is_answered_the_same(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = old(&scene);
    let Created::New(head, _) = ok(scene.migrate(migrate(&run, "new"))) else {
        panic!("it was not there before")
    };
    let after = both(&scene);
    assert_eq!(
        ok(scene.migrate(migrate(&run, "new"))),
        Created::Exists(head)
    );
    let mut other_input = migrate(&run, "new");
    other_input.input = value(10).digest();
    let mut other_workflow = migrate(&run, "new");
    other_workflow.workflow = "order_v3".into();
    for other in [other_input, other_workflow, migrate(&run, "newer")] {
        assert!(matches!(
            scene.migrate(other),
            Err(StoreError::Refused(Refusal::Moved { .. }))
        ));
    }
    assert!(both(&scene) == after, "something was changed");
    assert_eq!(ok(scene.store.load(&key("newer"))), None);
}

/// The task that goes on comes to an end; then the run can be purged, and still says where it went.
pub fn a_migrated_run_takes_only_what_is_left_to_say(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = old(&scene);
    ok(scene.migrate(migrate(&run, "new")));
    run.head = run.load().head;
    assert_eq!(
        run.deliver(1),
        Err(StoreError::Refused(Refusal::Finished { run: key("old") }))
    );
    let more = run.try_commit(Changes {
        units: vec![run.next_unit(0)],
        ..no_changes()
    });
    assert_eq!(
        more,
        Err(StoreError::Refused(Refusal::Finished { run: key("old") }))
    );
    assert_eq!(
        scene.purge(run.purge_of(9)),
        Err(StoreError::Refused(Refusal::OpenTasks {
            run: key("old"),
            tasks: 1
        }))
    );
    run.commit(Changes {
        tasks: vec![TaskChange::Remove(1)],
        ..no_changes()
    });
    run.purge(crate::store::Keep::Head);
    let head = run.load().head;
    assert_eq!(
        (head.status, head.migrated_to),
        (Status::Migrated, Some(id("new")))
    );
}

/// As its next generation, which was not moved anywhere.
pub fn a_migrated_run_begins_anew_like_any_other(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = old(&scene);
    ok(scene.migrate(migrate(&run, "new")));
    run.begin_anew();
    let head = run.load().head;
    assert_eq!(
        (head.generation, head.status, head.migrated_to),
        (2, Status::Running, None)
    );
    // What was said of the generation before is not said of this one.
    let mut again = migrate(&run, "new");
    again.end.generation = 1;
    assert!(scene.migrate(again).is_err());
}

/// Two runs cannot both be moved to one.
pub fn a_new_run_is_made_once_by_two_migrations(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = old(&scene);
    let mut other = scene.begin("other");
    other.grow(1);
    let second = Migrate {
        end: other.commit_of(Changes {
            units: vec![moved(other.head.sequence + 1, &id("new"))],
            ..no_changes()
        }),
        ..migrate(&run, "new")
    };
    let ((ack, first), (second_ack, second_answer)) = (ack(), ack());
    scene.store.migrate(migrate(&run, "new"), ack);
    scene.store.migrate(second, second_ack);
    ok(first.wait());
    assert_eq!(
        second_answer.wait(),
        Err(StoreError::Refused(Refusal::Exists { run: key("new") }))
    );
    other.grow(1);
    let made = scene.create(create(&key("new"), scene.owner, no_changes()));
    assert!(matches!(ok(made), Created::Exists(_)));
}

/// Values of megabytes on both sides, many rows and tasks: still all of it or nothing.
pub fn a_large_migration_is_one_write(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("old");
    run.commit(Changes {
        tasks: (1..500).map(put).collect(),
        enqueue: (1..40).map(|row| completed(row, value(50_000))).collect(),
        ..no_changes()
    });
    let to = id("new");
    let late = |operation| AttemptRecord {
        operation,
        attempt: 1,
        outcome: AttemptOutcome::Late {
            result: value(50_000),
        },
        at: at(7),
    };
    let begun = Unit {
        decisions: vec![perennial::history::Decision::Completed {
            value: value(1 << 20),
            open: Vec::new(),
        }],
        ..first_unit(&key("new"), 1)
    };
    let large = Migrate {
        end: run.commit_of(Changes {
            units: vec![moved(2, &to)],
            taken: (1..40).collect(),
            tasks: (1..400).map(TaskChange::Remove).collect(),
            attempts: (1..40).map(late).collect(),
            stamp: at(7),
            ..Changes::default()
        }),
        to,
        workflow: "order_v2".into(),
        input: value(9).digest(),
        owner: scene.owner,
        begin: Changes {
            units: vec![begun.clone()],
            enqueue: vec![completed(1, value(500_000))],
            stamp: at(7),
            ..Changes::default()
        },
    };
    ok(scene.migrate(large));
    let look = |scene: &Scene| {
        let [Some((old, _, attempts)), Some((new, units, _))] = both(scene) else {
            panic!("both are there")
        };
        assert_eq!(
            (old.tasks.len(), old.queue.len(), attempts.len()),
            (100, 0, 39)
        );
        assert_eq!((new.queue.len(), units), (1, vec![begun.clone()]));
    };
    look(&scene);
    if let Some(scene) = scene.reopen() {
        look(&scene);
    }
}

/// And both go on: the new run can be claimed, and the same migration is still answered.
pub fn both_runs_are_there_after_reopening(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = old(&scene);
    let again = migrate(&run, "new");
    ok(scene.migrate(migrate(&run, "new")));
    let before = both(&scene);
    let Some(scene) = scene.reopen() else { return };
    assert!(both(&scene) == before, "something was changed");
    assert!(matches!(ok(scene.migrate(again)), Created::Exists(_)));
    let head = ok(scene.claim(&key("new"), scene.owner));
    let mut new = Run {
        scene: &scene,
        key: key("new"),
        head,
    };
    new.commit(Changes {
        units: vec![first_unit(&key("new"), 1)],
        taken: vec![1],
        ..no_changes()
    });
    assert!(new.load().queue.is_empty());
}
