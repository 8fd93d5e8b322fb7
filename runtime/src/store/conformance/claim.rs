//! Claims, and the runs that are worth one.

use perennial::RunKey;

use super::Factory;
use super::scene::{Run, Scene, at, key, key_in, no_changes, ok, put, raised, value};
use crate::store::{BlockedChange, BlockedRecord, Changes, TaskChange, TimerChange};

/// And changes nothing else.
pub fn a_claim_raises_the_fence(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let other = ok(scene.store.enroll());
    let run = scene.begin("order-42");
    ok(run.deliver(1));
    let before = run.load();
    let head = ok(scene.claim(&run.key, other));
    let expected = crate::store::Head {
        owner: other,
        fence: raised(before.head.fence),
        ..before.head.clone()
    };
    assert_eq!(head, expected);
    assert_eq!(
        run.load(),
        crate::store::Loaded {
            head: expected,
            ..before
        }
    );
}

/// No two get the same number.
pub fn owners_are_told_apart(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut owners: Vec<_> = (0..5).map(|_| ok(scene.store.enroll())).collect();
    owners.push(scene.owner);
    owners.sort();
    owners.dedup();
    assert_eq!(owners.len(), 6);
}

fn claimable(scene: &Scene, artifact: &str) -> Vec<RunKey> {
    ok(scene.store.claimable(artifact, None, usize::MAX))
}

fn block(run: &mut Run<'_>, artifact: &str, unfit: bool) {
    let record = BlockedRecord {
        artifact: artifact.into(),
        unfit,
        code: "PR001".into(),
        text: "changed".into(),
        details: value(4),
        at: at(4),
    };
    run.commit(Changes {
        blocked: Some(BlockedChange::Put(record)),
        ..no_changes()
    });
}

/// A row, a task or a blocked record; and not any more when it is gone.
pub fn runs_with_something_to_do_are_claimable(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (mut row, mut task, mut blocked) = (
        scene.begin("row"),
        scene.begin("task"),
        scene.begin("blocked"),
    );
    let idle = scene.begin("idle");
    assert!(claimable(&scene, "one").is_empty());
    ok(row.deliver(1));
    task.commit(Changes {
        tasks: vec![put(1)],
        ..no_changes()
    });
    block(&mut blocked, "one", false);
    assert_eq!(
        claimable(&scene, "one"),
        [key("blocked"), key("row"), key("task")]
    );
    row.commit(Changes {
        taken: vec![1],
        ..no_changes()
    });
    task.commit(Changes {
        tasks: vec![TaskChange::Remove(1), put(2)],
        ..no_changes()
    });
    assert_eq!(claimable(&scene, "one"), [key("blocked"), key("task")]);
    task.commit(Changes {
        tasks: vec![TaskChange::Remove(2)],
        ..no_changes()
    });
    blocked.commit(Changes {
        blocked: Some(BlockedChange::Clear),
        ..no_changes()
    });
    assert!(claimable(&scene, "one").is_empty());
    ok(idle.deliver(1));
    assert_eq!(claimable(&scene, "one"), [key("idle")]);
}

/// Time is another list.
pub fn a_run_that_only_waits_for_time_is_not(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(Changes {
        timers: vec![TimerChange::Put {
            operation: 1,
            deadline: at(9),
        }],
        ..no_changes()
    });
    assert!(claimable(&scene, "one").is_empty());
}

/// For the artifact that they are unfit for; others may try.
pub fn unfit_runs_are_left_out(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (mut a, mut b) = (scene.begin("a"), scene.begin("b"));
    ok(a.deliver(1));
    block(&mut a, "one", true);
    block(&mut b, "one", false);
    block(&mut b, "two", true);
    assert_eq!(claimable(&scene, "one"), [key("b")]);
    assert_eq!(claimable(&scene, "two"), [key("a")]);
    assert_eq!(claimable(&scene, "three"), [key("a"), key("b")]);
    block(&mut a, "one", false);
    assert_eq!(claimable(&scene, "one"), [key("a"), key("b")]);
}

/// Over all namespaces, in the order of their keys; what is left out does not shorten a page.
pub fn claimable_runs_come_in_pages(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut expected = Vec::new();
    for namespace in ["b", "a", "a.b"] {
        for id in ["3", "1", "2"] {
            let mut run = scene.begin_in(namespace, id);
            ok(run.deliver(1));
            if id == "2" {
                block(&mut run, "one", true);
            } else {
                expected.push(key_in(namespace, id));
            }
        }
    }
    expected.sort();
    let mut paged: Vec<RunKey> = Vec::new();
    while let page @ [_, ..] = &ok(scene.store.claimable("one", paged.last(), 2))[..] {
        assert_eq!(page.len(), 2);
        paged.extend_from_slice(page);
    }
    assert_eq!(paged, expected);
}

/// S11, S12: rows that the end did not take wait for a next generation; dispatched work is still the run's.
pub fn an_ended_run_is_claimable_for_its_tasks_alone(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (mut row, mut task) = (scene.begin("row"), scene.begin("task"));
    ok(row.deliver(1));
    task.commit(Changes {
        tasks: vec![put(1)],
        ..no_changes()
    });
    row.end();
    task.end();
    assert_eq!(claimable(&scene, "one"), [key("task")]);
    task.commit(Changes {
        tasks: vec![TaskChange::Remove(1)],
        ..no_changes()
    });
    assert!(claimable(&scene, "one").is_empty());
}
