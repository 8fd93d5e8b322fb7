//! That a store is what its profile says (O62).

use super::scene::{Scene, at, key, no_changes, ok, value};
use super::{Damage, Factory};
use crate::profile::{Durability, Recovery, Replay, Retention};
use crate::store::{Changes, FinishedRun, Keep, Remains, StoreError};

/// What a run that was acknowledged survives. The end of the power is no matter for this suite: a store that
/// claims the device has to show it with a harness that cuts the power.
pub fn it_keeps_what_its_durability_says(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let durability = scene.store.profile().durability;
    scene.begin("order-42").grow(3);
    let left = scene.reopen();
    match (durability, left) {
        (Durability::Memory, None) => {}
        (Durability::Memory, Some(_)) => {
            panic!("it keeps more than it claims: its durability is not `memory`")
        }
        (Durability::Process | Durability::Device, Some(scene)) => {
            assert_eq!(scene.units(&key("order-42"), 1).len(), 4);
        }
        (Durability::Process | Durability::Device, None) => {
            panic!("a fixture of a store that claims to survive its process has to reopen it")
        }
    }
}

/// Recovery is offered where something is left to recover, and gives whole writes.
pub fn it_recovers_as_it_says(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let recovery = scene.store.profile().recovery;
    let run = scene.begin("order-42");
    let pending = (0..50).map(|_| {
        scene.hand_over(run.commit_of(Changes {
            tasks: vec![super::scene::put(1)],
            enqueue: vec![super::scene::completed(1, value(9))],
            ..no_changes()
        }))
    });
    let answers: Vec<_> = pending.collect();
    let written = answers.into_iter().map(|answer| answer.wait());
    let written = written.filter(Result::is_ok).count();
    match (recovery, scene.reopen()) {
        (Recovery::NotOffered, None) => {}
        (Recovery::Whole, Some(scene)) => {
            let loaded = scene.load(&key("order-42"));
            assert_eq!(loaded.queue.len(), written);
            assert_eq!(loaded.tasks.len(), 1);
        }
        (recovery, left) => panic!(
            "it claims {recovery:?}, and reopening it {}",
            if left.is_some() { "works" } else { "does not" }
        ),
    }
}

/// What it does not notice it must not claim. A fixture has to be able to do the damage.
pub fn it_checks_histories_as_it_says(factory: Factory<'_>) {
    let damages: &[fn(&perennial::RunKey) -> Damage<'_>] = &[
        |run| Damage::Lose(run, 1, 2),
        |run| Damage::Flip(run, 1, 2),
        |run| Damage::Raise(run, 1, 2),
    ];
    for (index, damage) in damages.iter().enumerate() {
        let scene = Scene::new(factory);
        let mut run = scene.begin("order-42");
        run.grow(3);
        let claimed = match scene.store.profile().replay {
            Replay::Numbered => index == 0,
            Replay::Checked => true,
        };
        if !claimed {
            continue;
        }
        assert!(
            scene.damage(damage(&run.key)),
            "its fixture cannot do the damage number {index} that it claims to notice"
        );
        let read = scene.store.history(&run.key, 1, 1, 99);
        assert!(
            matches!(
                read,
                Err(StoreError::Gap { .. } | StoreError::Damaged { .. })
            ),
            "damage number {index} went unnoticed"
        );
    }
}

/// Nothing goes by itself, and what is purged does.
pub fn it_retains_as_it_says(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let Retention::Purged = scene.store.profile().retention;
    let mut run = scene.begin("order-42");
    run.end();
    assert_eq!(scene.units(&run.key, 1).len(), 2);
    let listed = ok(scene.store.finished(Remains::Whole, at(9), None, 9));
    let expected = FinishedRun {
        at: at(1),
        run: run.key.clone(),
    };
    assert_eq!(listed, [expected]);
    run.purge(Keep::Nothing);
    assert_eq!(ok(scene.store.head(&run.key)), None);
}

/// At the bound it takes a unit, beyond it does not.
pub fn its_bounds_are_those_that_it_says(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let bounds = scene.store.profile().bounds;
    let bytes = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX);
    let mut run = scene.begin("order-42");
    let with_name = |bytes| {
        let mut task = super::scene::task(1);
        task.name = "x".repeat(bytes);
        Changes {
            tasks: vec![crate::store::TaskChange::Put(task)],
            ..no_changes()
        }
    };
    run.commit(with_name(bytes(bounds.name)));
    let refused = run.try_commit(with_name(bytes(bounds.name) + 1));
    assert!(
        matches!(refused, Err(StoreError::TooLarge { limit, .. }) if limit == bounds.name),
        "{refused:?}"
    );
    let with_text = |bytes| {
        let mut task = super::scene::task(1);
        task.last_failure = Some("x".repeat(bytes));
        Changes {
            tasks: vec![crate::store::TaskChange::Put(task)],
            ..no_changes()
        }
    };
    run.commit(with_text(bytes(bounds.text)));
    let refused = run.try_commit(with_text(bytes(bounds.text) + 1));
    assert!(
        matches!(refused, Err(StoreError::TooLarge { limit, .. }) if limit == bounds.text),
        "{refused:?}"
    );
    // A unit of values of the largest kind, as many as just fit.
    let count = bytes(bounds.unit / bounds.value) - 1;
    let with_values = |count: usize| {
        let mut unit = run.next_unit(0);
        let largest = value(bytes(bounds.value));
        unit.decisions = (0..count)
            .map(|_| perennial::history::Decision::Recorded {
                source: perennial::history::RecordSource::Named("largest".into()),
                value: largest.clone(),
                site: None,
            })
            .collect();
        Changes {
            units: vec![unit],
            ..no_changes()
        }
    };
    let (fits, beyond) = (with_values(count), with_values(count + 2));
    let refused = run.try_commit(beyond);
    assert!(
        matches!(refused, Err(StoreError::TooLarge { limit, .. }) if limit == bounds.unit),
        "{refused:?}"
    );
    run.commit(fits);
}

/// Also after reopening it.
pub fn its_profile_does_not_change(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let before = scene.store.profile();
    scene.begin("order-42").end();
    assert_eq!(scene.store.profile(), before);
    if let Some(scene) = scene.reopen() {
        assert_eq!(scene.store.profile(), before);
    }
}
