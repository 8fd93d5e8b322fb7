//! Making runs.

use super::Factory;
use super::scene::{Scene, at, completed, create, first_unit, key, key_in, no_changes, ok};
use crate::store::{Changes, Create, Created, Fence, Head, Refusal, Status, StoreError};
use perennial::value::Value;

/// A second creation changes nothing and answers with the head of the first, whatever it brings.
pub fn a_run_is_made_once(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let order = key("order-42");
    let first = create(
        &order,
        scene.owner,
        Changes {
            stamp: at(7),
            ..Changes::default()
        },
    );
    let Created::New(head, _) = ok(scene.create(first.clone())) else {
        panic!("it was not there before")
    };
    let expected = Head {
        workflow: "order".into(),
        input: Value::null().digest(),
        status: Status::Running,
        generation: 1,
        sequence: 0,
        owner: scene.owner,
        fence: Fence(1),
        arrivals: 0,
        stamp: at(7),
        next_operation: 1,
        created: at(7),
        finished: None,
        blocked: false,
        purged: None,
        kept_from: 1,
        inbox: Default::default(),
        streams: Vec::new(),
        views: Vec::new(),
        migrated_to: None,
        paused: None,
    };
    assert_eq!(head, expected);
    let other = Create {
        workflow: "other".into(),
        changes: Changes {
            units: vec![first_unit(&order, 1)],
            ..no_changes()
        },
        ..first
    };
    assert_eq!(ok(scene.create(other)), Created::Exists(expected.clone()));
    assert_eq!(scene.load(&order).head, expected);
    assert!(scene.units(&order, 1).is_empty());
}

/// A run and its first unit are one write.
pub fn its_first_unit_comes_with_it(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = scene.begin("order-42");
    assert_eq!(run.head.sequence, 1);
    assert_eq!(scene.units(&run.key, 1), [first_unit(&run.key, 1)]);
}

/// A run may begin as a row in its own queue, for whoever claims it.
pub fn its_first_row_comes_with_it(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let order = key("order-42");
    let changes = Changes {
        enqueue: vec![completed(1, Value::null())],
        stamp: at(5),
        ..Changes::default()
    };
    let Created::New(head, _) = ok(scene.create(create(&order, scene.owner, changes))) else {
        panic!("it is new")
    };
    assert_eq!((head.sequence, head.arrivals), (0, 1));
    let queue = scene.load(&order).queue;
    assert_eq!((queue[0].arrival, queue[0].at), (1, at(5)));
    assert_eq!(queue[0].observation, completed(1, Value::null()));
}

/// Arrivals and operations are counted on, the fence rises, rows that nobody took are still there.
pub fn a_next_generation_follows_a_finished_one(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    ok(run.deliver(1));
    run.commit(Changes {
        next_operation: Some(9),
        stamp: at(50),
        ..Changes::default()
    });
    run.end();
    let changes = Changes {
        units: vec![first_unit(&run.key, 2)],
        ..no_changes()
    };
    let next = Create {
        after: Some(1),
        ..create(&run.key, scene.owner, changes)
    };
    let Created::New(head, _) = ok(scene.create(next)) else {
        panic!("it follows")
    };
    assert_eq!(
        (head.generation, head.sequence, head.status),
        (2, 1, Status::Running)
    );
    assert_eq!(
        (head.arrivals, head.next_operation, head.fence),
        (1, 9, Fence(2))
    );
    assert_eq!(
        (head.stamp, head.created, head.finished),
        (at(50), at(50), None)
    );
    let loaded = scene.load(&run.key);
    assert_eq!(loaded.head, head);
    assert_eq!(loaded.queue.len(), 1);
}

/// Not a running one, not one that is not the last, not nothing; and a finished one only if it is named.
pub fn a_next_generation_follows_nothing_else(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let after = |after| Create {
        after,
        ..create(&run.key, scene.owner, no_changes())
    };
    let (first, second, none) = (after(Some(1)), after(Some(2)), after(None));
    assert_eq!(ok(scene.create(first)), Created::Exists(run.load().head));
    run.end();
    let head = run.load().head;
    assert_eq!(ok(scene.create(second)), Created::Exists(head.clone()));
    assert_eq!(ok(scene.create(none)), Created::Exists(head.clone()));
    assert_eq!(run.load().head, head);
    let nobody = key("order-43");
    let refused = scene.create(Create {
        after: Some(1),
        ..create(&nobody, scene.owner, no_changes())
    });
    assert_eq!(
        refused,
        Err(StoreError::Refused(Refusal::NoRun {
            run: nobody.clone()
        }))
    );
    assert_eq!(ok(scene.store.load(&nobody)), None);
}

/// The same id in another namespace is another run, also where one name is the beginning of another.
pub fn namespaces_are_worlds_of_their_own(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let names = [
        ("a", "b-c"),
        ("a-b", "c"),
        ("a", "b"),
        ("ab", "b"),
        ("a", "bb"),
    ];
    let mut runs: Vec<_> = names
        .iter()
        .map(|(namespace, name)| scene.begin_in(namespace, name))
        .collect();
    for (grow, run) in (1..).zip(&mut runs) {
        run.grow(grow);
        ok(run.deliver(grow));
    }
    for (grown, (namespace, name)) in (1..).zip(names) {
        let loaded = scene.load(&key_in(namespace, name));
        assert_eq!(loaded.head.sequence, 1 + grown);
        assert_eq!(loaded.queue.len(), 1);
        assert_eq!(
            scene.units(&key_in(namespace, name), 1).len() as u64,
            1 + grown
        );
    }
    assert_eq!(ok(scene.store.load(&key_in("a-b", "b"))), None);
}
