//! Timers, of all runs by their deadlines and of each run.

use perennial::RunKey;

use super::Factory;
use super::scene::{Scene, at, key, key_in, no_changes, ok};
use crate::store::{Changes, DueTimer, TimerChange};

fn put(operation: u64, deadline: u64) -> TimerChange {
    TimerChange::Put {
        operation,
        deadline: at(deadline),
    }
}

fn timer(run: &RunKey, operation: u64, deadline: u64) -> DueTimer {
    DueTimer {
        deadline: at(deadline),
        run: run.clone(),
        operation,
    }
}

/// By deadline, then run, then operation; over all namespaces.
pub fn timers_are_due_in_their_order(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (a, b, other) = (key("a"), key("b"), key_in("z", "a"));
    for (name, namespace, timers) in [
        ("b", "default", vec![put(1, 300), put(2, 100)]),
        ("a", "z", vec![put(1, 100)]),
        ("a", "default", vec![put(300, 300), put(2, 300), put(9, 2)]),
    ] {
        scene.begin_in(namespace, name).commit(Changes {
            timers,
            ..no_changes()
        });
    }
    let expected = [
        timer(&a, 9, 2),
        timer(&b, 2, 100),
        timer(&other, 1, 100),
        timer(&a, 2, 300),
        timer(&a, 300, 300),
        timer(&b, 1, 300),
    ];
    assert_eq!(ok(scene.store.due(None, 99)), expected);
    assert_eq!(
        scene.load(&a).timers,
        [(2, at(300)), (9, at(2)), (300, at(300))]
    );
}

/// Each page goes on after the last timer of the one before, which need not be there any more.
pub fn due_timers_come_in_pages(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(Changes {
        timers: (1..=10).map(|n| put(n, 100 - n / 3)).collect(),
        ..no_changes()
    });
    let all = ok(scene.store.due(None, 99));
    assert!(all.is_sorted() && all.len() == 10);
    let mut paged = Vec::new();
    while let page @ [_, ..] = &ok(scene.store.due(paged.last(), 3))[..] {
        assert!(page.len() <= 3);
        paged.extend_from_slice(page);
    }
    assert_eq!(paged, all);
    assert!(ok(scene.store.due(None, 0)).is_empty());
    let TimerChange::Put {
        operation,
        deadline,
    } = put(all[0].operation, all[0].deadline.as_millis())
    else {
        return;
    };
    run.commit(Changes {
        timers: vec![TimerChange::Remove {
            operation,
            deadline,
        }],
        ..no_changes()
    });
    assert_eq!(ok(scene.store.due(Some(&all[0]), 99)), all[1..]);
}

/// A removed timer is due nowhere; a second put takes the place of the first.
pub fn a_timer_is_replaced_and_removed(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(Changes {
        timers: vec![put(1, 100), put(2, 200)],
        ..no_changes()
    });
    run.commit(Changes {
        timers: vec![put(1, 300)],
        ..no_changes()
    });
    assert_eq!(
        ok(scene.store.due(None, 9)),
        [timer(&run.key, 2, 200), timer(&run.key, 1, 300)]
    );
    let timers = vec![
        TimerChange::Remove {
            operation: 2,
            deadline: at(200),
        },
        TimerChange::Remove {
            operation: 7,
            deadline: at(1),
        },
    ];
    run.commit(Changes {
        timers,
        ..no_changes()
    });
    assert_eq!(ok(scene.store.due(None, 9)), [timer(&run.key, 1, 300)]);
    assert_eq!(run.load().timers, [(1, at(300))]);
    let timers = vec![TimerChange::Remove {
        operation: 1,
        deadline: at(300),
    }];
    run.commit(Changes {
        timers,
        ..no_changes()
    });
    assert!(ok(scene.store.due(None, 9)).is_empty());
    assert!(run.load().timers.is_empty());
}

/// More than fit anywhere but in places of their own.
pub fn many_timers_of_one_run_are_kept(factory: Factory<'_>) {
    const TIMERS: u64 = 500;
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(Changes {
        timers: (1..=TIMERS).map(|n| put(n, 1_000 - n)).collect(),
        ..no_changes()
    });
    let timers = run.load().timers;
    assert_eq!(
        timers,
        (1..=TIMERS).map(|n| (n, at(1_000 - n))).collect::<Vec<_>>()
    );
    let remove = |n: u64| TimerChange::Remove {
        operation: n,
        deadline: at(1_000 - n),
    };
    run.commit(Changes {
        timers: (1..=TIMERS).filter(|n| n % 2 == 0).map(remove).collect(),
        ..no_changes()
    });
    assert!(run.load().timers.iter().all(|(n, _)| n % 2 == 1));
    let due: Vec<_> = ok(scene.store.due(None, usize::MAX))
        .iter()
        .map(|timer| timer.operation)
        .collect();
    assert_eq!(
        due,
        (1..=TIMERS)
            .rev()
            .filter(|n| n % 2 == 1)
            .collect::<Vec<_>>()
    );
}
