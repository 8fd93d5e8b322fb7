//! Tasks and attempts.

use super::Factory;
use super::scene::{Scene, at, no_changes, ok, put, task};
use crate::store::{
    AttemptOutcome, AttemptRecord, Changes, Create, Created, MAX_NAME_BYTES, Owner, StoreError,
    Task, TaskChange,
};

/// Tasks come by operation. What is not there can be removed.
pub fn a_task_is_put_changed_and_removed(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(Changes {
        tasks: vec![put(2), put(1)],
        ..no_changes()
    });
    assert_eq!(run.load().tasks, [task(1), task(2)]);
    let started = Task {
        attempt: 2,
        started: Some(Owner(7)),
        not_before: at(50),
        ..task(1)
    };
    let tasks = vec![TaskChange::Put(started.clone()), TaskChange::Remove(9)];
    run.commit(Changes {
        tasks,
        ..no_changes()
    });
    assert_eq!(run.load().tasks, [started, task(2)]);
    run.commit(Changes {
        tasks: vec![TaskChange::Remove(1)],
        ..no_changes()
    });
    assert_eq!(run.load().tasks, [task(2)]);
}

/// Where one write changes a task more than once.
pub fn the_last_change_of_a_task_counts(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let again = Task {
        attempt: 2,
        ..task(2)
    };
    let tasks = vec![
        put(1),
        TaskChange::Remove(1),
        TaskChange::Remove(2),
        put(2),
        TaskChange::Put(again.clone()),
    ];
    run.commit(Changes {
        tasks,
        ..no_changes()
    });
    assert_eq!(run.load().tasks, [again]);
}

/// A fan-out in one commit, and then one after the other.
pub fn many_tasks_are_kept_whole(factory: Factory<'_>) {
    const TASKS: u64 = 2_000;
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(Changes {
        tasks: (1..=TASKS).map(put).collect(),
        ..no_changes()
    });
    assert_eq!(run.load().tasks, (1..=TASKS).map(task).collect::<Vec<_>>());
    for operation in [1, 2, 20, 21, 1_000, TASKS] {
        let again = Task {
            attempt: 2,
            ..task(operation + 1)
        };
        let put = TaskChange::Put(again.clone());
        run.commit(Changes {
            tasks: vec![TaskChange::Remove(operation), put],
            ..no_changes()
        });
        let tasks = run.load().tasks;
        assert!(tasks.iter().all(|task| task.operation != operation));
        assert!(tasks.contains(&again));
    }
    let operations: Vec<_> = run.load().tasks.iter().map(|task| task.operation).collect();
    assert!(
        operations.is_sorted() && operations.len() as u64 == TASKS + 1 - 6,
        "{}",
        operations.len()
    );
    run.commit(Changes {
        tasks: (1..=TASKS + 1).map(TaskChange::Remove).collect(),
        ..no_changes()
    });
    assert!(run.load().tasks.is_empty());
}

/// It grows beyond every bound that a store may have for small things, and shrinks again.
pub fn a_task_with_a_long_failure_is_kept(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    for length in [0, 500, 3_000, 20_000, 3_000, 1 << 20, 500] {
        let failed = Task {
            last_failure: Some("x".repeat(length)),
            ..task(1)
        };
        run.commit(Changes {
            tasks: vec![TaskChange::Put(failed.clone()), put(2)],
            ..no_changes()
        });
        assert_eq!(run.load().tasks, [failed, task(2)]);
    }
}

/// S15: nothing of the commit is written.
pub fn a_name_beyond_its_bound_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let named = |length| {
        TaskChange::Put(Task {
            name: "x".repeat(length),
            ..task(1)
        })
    };
    let refused = run.try_commit(Changes {
        tasks: vec![put(2), named(MAX_NAME_BYTES + 1)],
        ..no_changes()
    });
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    assert!(run.load().tasks.is_empty());
    run.commit(Changes {
        tasks: vec![named(MAX_NAME_BYTES)],
        ..no_changes()
    });
    assert_eq!(run.load().tasks.len(), 1);
}

/// In the order in which they were recorded, each generation its own.
pub fn attempts_are_told_in_their_order(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let attempt = |attempt, outcome| AttemptRecord {
        operation: 1,
        attempt,
        outcome,
        at: at(3),
    };
    let failed = |text: &str| AttemptOutcome::Failed { error: text.into() };
    let all = [
        attempt(2, failed("second first")),
        attempt(1, AttemptOutcome::Lost),
        attempt(
            3,
            AttemptOutcome::Panicked {
                message: "x".repeat(9_000),
            },
        ),
        attempt(3, AttemptOutcome::DeadlineExceeded),
    ];
    run.commit(Changes {
        attempts: all[..2].to_vec(),
        ..no_changes()
    });
    run.commit(Changes {
        attempts: all[2..3].to_vec(),
        ..no_changes()
    });
    run.commit(Changes {
        attempts: all[3..].to_vec(),
        ..no_changes()
    });
    run.end();
    let attempts = vec![attempt(1, failed("of another generation"))];
    let changes = Changes {
        attempts: attempts.clone(),
        ..no_changes()
    };
    let next = Create {
        after: Some(1),
        ..super::scene::create(&run.key, scene.owner, changes)
    };
    assert!(matches!(ok(scene.create(next)), Created::New(..)));
    assert_eq!(ok(scene.store.attempts(&run.key, 1)), all);
    assert_eq!(ok(scene.store.attempts(&run.key, 2)), attempts);
}
