//! Commits: all or nothing, in their order, however large.

use std::sync::{Arc, Mutex, PoisonError};

use perennial::history::{Decision, RecordSource, Unit};
use perennial::value::Value;

use super::scene::{
    Run, Scene, ack, at, completed, create, key, no_changes, ok, put, raised, task, unit, value,
};
use super::{Factory, offers, views};
use crate::store::{
    AttemptOutcome, AttemptRecord, BlockedChange, BlockedRecord, Changes, Committed, Created,
    MAX_UNIT_BYTES, Refusal, Status, Store, StoreError, TaskChange, TimerChange,
};

/// Units, rows, tasks, timers, offers, attempts, status, stamp, operation number and blocked record in one write.
pub fn a_commit_changes_all_that_it_says(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    ok(run.deliver(1));
    let attempt = AttemptRecord {
        operation: 1,
        attempt: 1,
        outcome: AttemptOutcome::DeadlineExceeded,
        at: at(9),
    };
    let blocked = BlockedRecord {
        artifact: "one".into(),
        unfit: false,
        code: "PR014".into(),
        text: "it panicked".into(),
        details: Value::null(),
        at: at(9),
    };
    let units = vec![unit(2, 3), unit(6, 0)];
    run.commit(Changes {
        units: units.clone(),
        taken: vec![1],
        dropped_signals: 0,
        enqueue: vec![completed(4, value(10))],
        slots: Vec::new(),
        update_keys: Vec::new(),
        awaited: None,
        tasks: vec![put(3), put(4)],
        timers: vec![TimerChange::Put {
            operation: 5,
            deadline: at(60),
        }],
        offers: vec![offers::open(2, 7)],
        attempts: vec![attempt.clone()],
        views: vec![views::put("status", value(10))],
        status: Some(Status::Failed),
        stamp: at(9),
        next_operation: Some(6),
        blocked: Some(BlockedChange::Put(blocked.clone())),
        pause: None,
    });
    let loaded = run.load();
    assert_eq!(
        (loaded.head.status, loaded.head.sequence),
        (Status::Failed, 6)
    );
    assert_eq!(
        (loaded.head.stamp, loaded.head.finished),
        (at(9), Some(at(9)))
    );
    assert_eq!(
        (
            loaded.head.next_operation,
            loaded.head.arrivals,
            loaded.head.blocked
        ),
        (6, 2, true)
    );
    assert_eq!(loaded.tasks, [task(3), task(4)]);
    assert_eq!(loaded.views, [views::record("status", value(10))]);
    assert_eq!(loaded.timers, [(5, at(60))]);
    let made = ok(scene.store.offers(&run.key, 0, 9));
    assert_eq!((made.len(), made[0].unit), (1, 2));
    let [row] = &loaded.queue[..] else {
        panic!("one row was taken and one was put")
    };
    assert_eq!(
        (row.arrival, row.at, &row.observation),
        (2, at(9), &completed(4, value(10)))
    );
    assert_eq!(loaded.blocked, [blocked]);
    assert_eq!(scene.units(&run.key, 1)[1..], units);
    assert_eq!(ok(scene.store.attempts(&run.key, 1)), [attempt]);
}

/// Whatever it brought.
pub fn a_refused_commit_changes_nothing(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    ok(run.deliver(1));
    run.commit(Changes {
        tasks: vec![put(1)],
        ..no_changes()
    });
    let before = run.load();
    let mut commit = run.commit_of(Changes {
        units: vec![unit(2, 0)],
        taken: vec![1],
        enqueue: vec![completed(4, Value::null())],
        tasks: vec![put(3), TaskChange::Remove(1)],
        timers: vec![TimerChange::Put {
            operation: 5,
            deadline: at(60),
        }],
        status: Some(Status::Completed),
        stamp: at(99),
        ..Changes::default()
    });
    commit.sequence = 0;
    assert!(matches!(
        scene.commit(commit),
        Err(StoreError::Refused(Refusal::Moved { .. }))
    ));
    assert_eq!(run.load(), before);
    assert_eq!(scene.units(&run.key, 1).len(), 1);
    assert!(ok(scene.store.due(None, 9)).is_empty());
}

/// S2: stamps of the head do not go back, whatever the writer's clock says.
pub fn the_stamp_never_goes_back(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(Changes {
        stamp: at(100),
        ..Changes::default()
    });
    run.commit(Changes {
        enqueue: vec![completed(1, Value::null())],
        stamp: at(50),
        ..Changes::default()
    });
    let loaded = run.load();
    assert_eq!((loaded.head.stamp, loaded.queue[0].at), (at(100), at(100)));
    let late = Unit {
        at: at(200),
        ..run.next_unit(0)
    };
    run.commit(Changes {
        units: vec![late],
        stamp: at(150),
        ..Changes::default()
    });
    assert_eq!(run.load().head.stamp, at(200));
}

/// Acks of one thread's writes are called in the order of the writes, refused ones and reads between them
/// included.
pub fn acks_come_in_the_order_of_the_writes(factory: Factory<'_>) {
    const WRITES: u64 = 300;
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let seen = Arc::new(Mutex::new(Vec::new()));
    for write in 0..WRITES {
        let seen = Arc::clone(&seen);
        let mut commit = run.commit_of(Changes {
            units: vec![run.next_unit(0)],
            ..no_changes()
        });
        let refused = write % 3 == 2;
        if refused {
            commit.fence.0 += 1;
        } else {
            run.head.sequence += 1;
        }
        let ack = move |result: Result<Committed, StoreError>| {
            assert_eq!(result.is_err(), refused);
            seen.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(write);
        };
        scene.store.commit(commit, Box::new(ack));
    }
    run.commit(no_changes());
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(*seen, (0..WRITES).collect::<Vec<_>>());
}

/// Writes become durable together; one among them that writes nothing leaves the others as they are.
pub fn a_write_that_changes_nothing_disturbs_no_other(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (one, other) = (scene.begin("one"), scene.begin("other"));
    let large = |run: &Run<'_>, letter: &str| {
        let mut unit = run.next_unit(0);
        let text = letter.repeat(20_000);
        unit.decisions.push(Decision::Recorded {
            source: RecordSource::Named("large".into()),
            value: Value::encode(&text).unwrap_or_else(|error| panic!("{error}")),
            site: None,
        });
        run.commit_of(Changes {
            units: vec![unit],
            ..no_changes()
        })
    };
    let (first, second) = (large(&one, "a"), large(&other, "b"));
    let expected = [first.clone(), second.clone()].map(|commit| commit.changes.units);
    let again = create(&one.key, scene.owner, no_changes());
    let ((done, first_done), (seen, exists), (also_done, second_done)) = (ack(), ack(), ack());
    // From within an ack they are handed over before the next is written.
    let (opened, open) = ack::<Committed>();
    let store = Arc::clone(&scene.store);
    let hand_over = move |result: Result<Committed, StoreError>| {
        store.commit(first, done);
        store.create(again, seen);
        store.commit(second, also_done);
        opened(result);
    };
    scene.store.commit(
        scene.begin("third").commit_of(no_changes()),
        Box::new(hand_over),
    );
    ok(open.wait());
    ok(first_done.wait());
    assert!(matches!(ok(exists.wait()), Created::Exists(_)));
    ok(second_done.wait());
    let found = [&one, &other].map(|run| scene.units(&run.key, 1).split_off(1));
    assert!(found == expected, "a value is another one");
}

/// Each is guarded and answered by itself, in their order, also where a thread waits for all of them.
pub fn commits_handed_over_together_stand_each_for_itself(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let runs: Vec<_> = (0..60)
        .map(|number| scene.begin(&format!("run-{number:02}")))
        .collect();
    for round in 0..3 {
        let (commits, answers): (Vec<_>, Vec<_>) = (0_u64..)
            .zip(&runs)
            .map(|(number, run)| {
                let mut commit = run.commit_of(Changes {
                    units: vec![unit(2 + round, 0)],
                    ..no_changes()
                });
                commit.sequence = 1 + round;
                if number % 7 == 3 {
                    commit.fence = raised(commit.fence);
                }
                let (ack, answer) = ack();
                ((commit, ack), answer)
            })
            .unzip();
        scene.store.commit_all(commits);
        for (number, answer) in answers.into_iter().enumerate() {
            let refused = matches!(
                answer.wait(),
                Err(StoreError::Refused(Refusal::Fenced { .. }))
            );
            assert_eq!(refused, number % 7 == 3, "{number}");
        }
    }
    for (number, run) in runs.iter().enumerate() {
        let expected = if number % 7 == 3 { 1 } else { 4 };
        assert_eq!(scene.units(&run.key, 1).len(), expected);
    }
    scene.store.commit_all(Vec::new());
}

/// Each thread has a run of its own; nothing is lost, and nothing gets into another's run.
pub fn writes_from_many_threads_are_all_kept(factory: Factory<'_>) {
    const THREADS: u64 = 8;
    const COMMITS: u64 = 25;
    let scene = Scene::new(factory);
    let mut runs: Vec<_> = (0..THREADS)
        .map(|thread| scene.begin(&format!("run-{thread}")))
        .collect();
    let parts: Vec<_> = runs
        .iter_mut()
        .map(|run| (run.key.clone(), run.head.clone()))
        .collect();
    std::thread::scope(|threads| {
        for (key, head) in parts {
            let store = Arc::clone(&scene.store);
            threads.spawn(move || {
                for number in 2..2 + COMMITS {
                    let (ack, answer) = ack();
                    let changes = Changes {
                        units: vec![unit(number, 0)],
                        tasks: vec![put(number)],
                        ..no_changes()
                    };
                    store.commit(
                        crate::store::Commit {
                            run: key.clone(),
                            fence: head.fence,
                            generation: 1,
                            sequence: number - 1,
                            changes,
                        },
                        ack,
                    );
                    ok(answer.wait());
                }
            });
        }
    });
    for run in runs {
        let loaded = run.load();
        assert_eq!(loaded.head.sequence, 1 + COMMITS);
        assert_eq!(loaded.tasks.len() as u64, COMMITS);
        assert_eq!(scene.units(&run.key, 1).len() as u64, 1 + COMMITS);
    }
}

/// Acks are called without any lock of the store. What was acknowledged is seen from within the ack.
pub fn an_ack_may_read_and_write(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let first = key("first");
    let (done, answer) = ack();
    let store: Arc<dyn Store> = Arc::clone(&scene.store);
    let (owner, second) = (
        scene.owner,
        create(&key("second"), scene.owner, no_changes()),
    );
    let seen = first.clone();
    scene.store.create(
        create(&first, owner, no_changes()),
        Box::new(move |result| {
            ok(result);
            assert!(ok(store.load(&seen)).is_some());
            store.create(second, done);
        }),
    );
    ok(answer.wait());
    assert_eq!(scene.load(&key("second")).head.owner, owner);
}

fn recorded(number: u64, bytes: &[usize]) -> Unit {
    let decisions = bytes.iter().map(|&bytes| Decision::Recorded {
        source: RecordSource::Named("answer".into()),
        value: value(bytes),
        site: None,
    });
    Unit {
        decisions: decisions.collect(),
        ..unit(number, 0)
    }
}

/// Around the places where a store might divide what it stores, and at the bound of a value, 1 MiB.
pub fn large_units_are_kept(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let mut units = Vec::new();
    for bytes in [
        5_800,
        5_900,
        5_960,
        6_000,
        12_000,
        100_000,
        131_072,
        200_000,
        1 << 20,
    ] {
        let unit = recorded(run.head.sequence + 1, &[bytes]);
        units.push(unit.clone());
        run.commit(Changes {
            units: vec![unit],
            ..no_changes()
        });
    }
    assert_eq!(scene.units(&run.key, 1)[1..], units);
}

/// Several large units, and small ones, become visible together.
pub fn several_large_units_in_one_commit_are_kept(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let first = recorded(2, &[300_000, 10]);
    let second = recorded(first.last() + 1, &[400_000; 3]);
    let third = unit(second.last() + 1, 2);
    let units = vec![first, second, third];
    run.commit(Changes {
        units: units.clone(),
        tasks: vec![put(1)],
        ..no_changes()
    });
    assert_eq!(scene.units(&run.key, 1)[1..], units);
    assert_eq!(run.load().tasks, [task(1)]);
}

/// S15: 16 MiB a unit. Nothing of the commit is written, and the next one is not disturbed.
pub fn a_unit_beyond_its_bound_is_refused_as_a_whole(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let too_large = recorded(3, &[1 << 20; 17]);
    let changes = Changes {
        units: vec![unit(2, 0), too_large],
        tasks: vec![put(1)],
        ..no_changes()
    };
    let refused = run.try_commit(changes);
    let Err(StoreError::TooLarge {
        what: "a unit",
        size,
        limit,
    }) = refused
    else {
        panic!("{refused:?}")
    };
    assert!(size > limit && limit == MAX_UNIT_BYTES as u64);
    assert_eq!(run.load().head.sequence, 1);
    assert!(run.load().tasks.is_empty());
    let large = recorded(2, &[1 << 20; 15]);
    run.commit(Changes {
        units: vec![large.clone()],
        ..no_changes()
    });
    assert_eq!(scene.units(&run.key, 1)[1..], [large]);
}

/// S12: what was dispatched is settled after the end; the history does not move any more.
pub fn an_ended_run_takes_only_what_is_left_to_say(factory: Factory<'_>) {
    fn finished(run: &mut Run<'_>, changes: Changes) {
        let refused = run.try_commit(changes);
        let expected = Refusal::Finished {
            run: run.key.clone(),
        };
        assert_eq!(refused, Err(StoreError::Refused(expected)));
    }
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(Changes {
        tasks: vec![put(1)],
        ..no_changes()
    });
    run.end();
    let next = run.next_unit(0);
    finished(
        &mut run,
        Changes {
            units: vec![next],
            ..no_changes()
        },
    );
    finished(
        &mut run,
        Changes {
            enqueue: vec![completed(1, Value::null())],
            ..no_changes()
        },
    );
    finished(
        &mut run,
        Changes {
            status: Some(Status::Running),
            ..no_changes()
        },
    );
    let outcome = AttemptOutcome::Late {
        result: value(7_000),
    };
    let late = AttemptRecord {
        operation: 1,
        attempt: 1,
        outcome,
        at: at(9),
    };
    let tasks = vec![TaskChange::Remove(1)];
    run.commit(Changes {
        attempts: vec![late.clone()],
        tasks,
        ..no_changes()
    });
    assert!(run.load().tasks.is_empty());
    assert_eq!(ok(scene.store.attempts(&run.key, 1)), [late]);
}
