//! Queues: what arrives for a run and is not in its history yet (S2).

use perennial::value::Value;

use super::Factory;
use super::scene::{Scene, at, completed, deliver, key, no_changes, ok, put, value};
use crate::store::{Changes, Deliver, Refusal, StoreError, TaskChange};

/// From 1 on; with `max(at, the run's last stamp)`.
pub fn rows_are_numbered_and_stamped(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    for (arrival, given) in (1..).zip([10, 5, 20]) {
        assert_eq!(
            ok(scene.deliver(deliver(&run.key, arrival, at(given)))),
            arrival
        );
    }
    let loaded = run.load();
    let rows: Vec<_> = loaded
        .queue
        .iter()
        .map(|row| (row.arrival, row.at))
        .collect();
    assert_eq!(rows, [(1, at(10)), (2, at(10)), (3, at(20))]);
    assert_eq!((loaded.head.arrivals, loaded.head.stamp), (3, at(20)));
    assert_eq!(loaded.queue[2].observation, completed(3, Value::null()));
}

/// The owner's next commit is not disturbed by what arrived meanwhile.
pub fn a_row_does_not_move_the_history(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    ok(run.deliver(1));
    run.grow(1);
    let loaded = run.load();
    assert_eq!((loaded.head.sequence, loaded.queue.len()), (2, 1));
}

/// And their numbers are not given out again. What is not there can be taken.
pub fn taken_rows_are_gone(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    for operation in 1..=3 {
        ok(run.deliver(operation));
    }
    run.commit(Changes {
        taken: vec![1, 3, 77],
        ..no_changes()
    });
    let left: Vec<_> = run.load().queue.iter().map(|row| row.arrival).collect();
    assert_eq!(left, [2]);
    run.commit(Changes {
        taken: vec![2],
        ..no_changes()
    });
    assert!(run.load().queue.is_empty());
    assert_eq!(ok(run.deliver(4)), 4);
}

/// Those that a commit puts and those that are delivered.
pub fn rows_from_all_sides_share_their_numbers(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    assert_eq!(ok(run.deliver(1)), 1);
    let enqueue = vec![completed(2, Value::null()), completed(3, Value::null())];
    run.commit(Changes {
        enqueue,
        stamp: at(8),
        ..Changes::default()
    });
    assert_eq!(ok(run.deliver(4)), 4);
    let rows: Vec<_> = run
        .load()
        .queue
        .into_iter()
        .map(|row| (row.arrival, row.at, row.observation))
        .collect();
    let expected = [(1, 1), (2, 8), (3, 8), (4, 8)];
    assert_eq!(
        rows,
        expected.map(|(number, stamp)| (number, at(stamp), completed(number, Value::null())))
    );
}

/// The task of what has completed goes in the same write.
pub fn a_delivery_settles_tasks(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(Changes {
        tasks: vec![put(1), put(2)],
        ..no_changes()
    });
    ok(scene.deliver(Deliver {
        tasks: vec![TaskChange::Remove(1)],
        ..deliver(&run.key, 1, at(1))
    }));
    let loaded = run.load();
    assert_eq!(
        (
            loaded.tasks.len(),
            loaded.tasks[0].operation,
            loaded.queue.len()
        ),
        (1, 2, 1)
    );
}

/// Not to a run that is not there, not to one that has ended.
pub fn nothing_is_delivered_to_nobody(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let nobody = key("nobody");
    let refusal = Refusal::NoRun {
        run: nobody.clone(),
    };
    assert_eq!(
        scene.deliver(deliver(&nobody, 1, at(1))),
        Err(StoreError::Refused(refusal))
    );
    let mut run = scene.begin("order-42");
    run.end();
    let refusal = Refusal::Finished {
        run: run.key.clone(),
    };
    assert_eq!(run.deliver(1), Err(StoreError::Refused(refusal)));
    assert!(run.load().queue.is_empty());
}

/// However a store divides them, they come back in their order and leave nothing behind.
pub fn many_and_large_rows_come_and_go(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let sizes = [10, 2_000, 5_000, 6_000, 7_000, 50_000, 300_000];
    for round in 0..10 {
        for (index, bytes) in (1..).zip(sizes) {
            let observation = completed(index, value(bytes));
            ok(scene.deliver(Deliver {
                observation,
                ..deliver(&run.key, index, at(round))
            }));
        }
    }
    let queue = run.load().queue;
    let arrivals: Vec<_> = queue.iter().map(|row| row.arrival).collect();
    assert_eq!(arrivals, (1..=70).collect::<Vec<_>>());
    for (row, bytes) in queue.iter().zip(sizes.iter().cycle()) {
        let perennial::history::Observation::ActivityCompleted { result, .. } = &row.observation
        else {
            panic!("{row:?}")
        };
        assert_eq!(result.as_json().len(), *bytes);
    }
    run.commit(Changes {
        taken: (1..=35).collect(),
        ..no_changes()
    });
    assert_eq!(run.load().queue, queue[35..]);
    run.commit(Changes {
        taken: (36..=70).collect(),
        ..no_changes()
    });
    assert!(run.load().queue.is_empty());
}
