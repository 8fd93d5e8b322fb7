//! Putting runs back as they were.

use perennial::RunKey;
use perennial::history::Unit;

use super::scene::{Run, Scene, at, create, key, no_changes, ok, unit};
use super::{Factory, everything};
use crate::store::{
    AttemptOutcome, AttemptRecord, Changes, Fence, Loaded, Owner, Progress, Refusal, Restore,
    Status, StoreError, TaskChange,
};

fn refused<T>(refusal: Refusal) -> Result<T, StoreError> {
    Err(StoreError::Refused(refusal))
}

fn history(run: &RunKey, generation: u64, units: &[Unit], end: Option<u64>) -> Restore {
    Restore::History {
        run: run.clone(),
        generation,
        units: units.to_vec(),
        attempts: Vec::new(),
        end,
    }
}

fn rest(run: &RunKey, loaded: Loaded) -> Restore {
    Restore::Run {
        run: run.clone(),
        loaded: Box::new(loaded),
    }
}

/// Restores in `to` what `from` tells of a run, in parts of so many units.
fn copy(from: &Scene, to: &Scene, run: &RunKey, part: usize) {
    let (Some(loaded), histories) = everything::told(from, run) else {
        panic!("{run} is not there")
    };
    for (generation, (units, attempts)) in (1..).zip(histories) {
        if generation < loaded.head.kept_from {
            continue;
        }
        for units in units.chunks(part) {
            ok(to.restore(history(run, generation, units, None)));
        }
        // Attempts in parts of their own, and the end in the last.
        for attempt in attempts {
            let part = Restore::History {
                run: run.clone(),
                generation,
                units: Vec::new(),
                attempts: vec![attempt],
                end: None,
            };
            ok(to.restore(part));
        }
        if generation < loaded.head.generation {
            let end = units.last().map_or(0, Unit::last);
            ok(to.restore(history(run, generation, &[], Some(end))));
        }
    }
    for keys in ok(from.store.keys(run, 0, usize::MAX)).chunks(part) {
        ok(to.restore(Restore::Keys {
            run: run.clone(),
            keys: keys.to_vec(),
        }));
    }
    for offers in ok(from.store.offers(run, 0, usize::MAX)).chunks(part) {
        ok(to.restore(Restore::Offers {
            run: run.clone(),
            offers: offers.to_vec(),
        }));
    }
    ok(to.restore(rest(run, loaded)));
}

/// To the last list; in small parts and in large ones.
pub fn a_store_that_was_restored_tells_the_same(factory: Factory<'_>) {
    let original = Scene::new(factory);
    everything::make(&original);
    let before = everything::look(&original);
    let restored = Scene::new(factory);
    for program in ok(original.store.programs()) {
        ok(restored.record_program(program));
    }
    for (run, part) in everything::runs()
        .iter()
        .zip([1, 1_000].into_iter().cycle())
    {
        copy(&original, &restored, run, part);
    }
    assert!(everything::look(&restored) == before, "something changed");
    if let Some(restored) = restored.reopen() {
        let after = everything::look(&restored);
        assert!(after == before, "something changed with reopening");
    }
}

/// A run of a few units, and a scene into which it can be restored.
fn two_scenes(factory: Factory<'_>) -> (Scene, Scene, RunKey) {
    let original = Scene::new(factory);
    let mut run = original.begin("order-42");
    run.grow(3);
    let key = run.key;
    (original, Scene::new(factory), key)
}

/// Its numbers are counted on.
pub fn a_restored_run_goes_on(factory: Factory<'_>) {
    let (original, restored, key) = two_scenes(factory);
    ok(original.claim(&key, original.owner));
    let (ack, answer) = super::scene::ack();
    let row = super::scene::deliver(&key, 1, at(1));
    original.store.deliver(row.clone(), ack);
    ok(answer.wait());
    copy(&original, &restored, &key, 2);
    assert_eq!(ok(restored.deliver(row)), 2);
    let head = ok(restored.claim(&key, restored.owner));
    assert_eq!((head.fence, head.sequence), (Fence(3), 4));
    let mut run = Run {
        scene: &restored,
        key,
        head,
    };
    run.grow(2);
    run.end();
    run.begin_anew();
    assert_eq!(restored.units(&run.key, 1).len(), 7);
    assert_eq!(restored.units(&run.key, 2).len(), 1);
}

/// Whatever the part.
pub fn a_run_that_is_there_is_not_restored(factory: Factory<'_>) {
    let (original, restored, key) = two_scenes(factory);
    restored.begin("order-42");
    let before = everything::told(&restored, &key);
    let exists = || Refusal::Exists { run: key.clone() };
    let units = original.units(&key, 1);
    assert_eq!(
        restored.restore(history(&key, 1, &units, None)),
        refused(exists())
    );
    assert_eq!(
        restored.restore(rest(&key, original.load(&key))),
        refused(exists())
    );
    assert_eq!(everything::told(&restored, &key), before);

    copy(&original, &Scene::new(factory), &key, 9);
    let again = original.restore(rest(&key, original.load(&key)));
    assert_eq!(again, refused(exists()));
}

/// Nor can one be made under its name.
pub fn a_run_is_not_there_before_all_of_it_is_restored(factory: Factory<'_>) {
    let (original, restored, key) = two_scenes(factory);
    let units = original.units(&key, 1);
    ok(restored.restore(history(&key, 1, &units, None)));
    assert_eq!(everything::told(&restored, &key), (None, vec![]));
    assert!(restored.units(&key, 1).is_empty());
    assert!(ok(restored.store.attempts(&key, 1)).is_empty());
    let creation = create(&key, restored.owner, no_changes());
    let restoring = || Refusal::Restoring { run: key.clone() };
    assert_eq!(restored.create(creation.clone()), refused(restoring()));
    // The next process finds it as it is.
    let Some(restored) = restored.reopen() else {
        return;
    };
    assert_eq!(restored.create(creation), refused(restoring()));
    ok(restored.restore(rest(&key, original.load(&key))));
    assert_eq!(
        everything::told(&restored, &key),
        everything::told(&original, &key)
    );
}

fn moved<T>(run: &RunKey, given: (u64, u64), current: (u64, u64)) -> Result<T, StoreError> {
    refused(Refusal::Moved {
        run: run.clone(),
        given,
        current,
    })
}

/// Units on units, a generation on the end of the one before, the head on all of them.
pub fn parts_must_follow_on(factory: Factory<'_>) {
    let (original, restored, key) = two_scenes(factory);
    let units = original.units(&key, 1);
    let head = original.load(&key);
    let part =
        |generation, units: &[Unit], end| restored.restore(history(&key, generation, units, end));
    assert_eq!(part(1, &units[1..], None), moved(&key, (1, 1), (0, 0)));
    assert_eq!(
        restored.restore(rest(&key, head.clone())),
        moved(&key, (1, 4), (0, 0))
    );
    ok(part(1, &units[..2], None));
    assert_eq!(part(1, &units[..1], None), moved(&key, (1, 0), (1, 2)));
    assert_eq!(part(1, &units[3..], None), moved(&key, (1, 3), (1, 2)));
    assert_eq!(part(2, &units[..1], None), moved(&key, (2, 0), (1, 2)));
    assert_eq!(part(1, &[], Some(3)), moved(&key, (1, 3), (1, 2)));
    assert_eq!(
        restored.restore(rest(&key, head.clone())),
        moved(&key, (1, 4), (1, 2))
    );
    ok(part(1, &units[2..], Some(4)));
    assert_eq!(part(1, &[unit(5, 0)], None), moved(&key, (1, 4), (1, 4)));
    assert_eq!(part(3, &units, None), moved(&key, (3, 0), (1, 4)));
    // It was said that another generation follows.
    assert_eq!(
        restored.restore(rest(&key, head.clone())),
        moved(&key, (1, 4), (1, 4))
    );
    ok(part(2, &units, None));
    let mut second = head;
    second.head.generation = 2;
    ok(restored.restore(rest(&key, second)));
    assert_eq!(restored.units(&key, 1), units);
    assert_eq!(restored.units(&key, 2), units);
}

/// So that the run can be restored once more, or made.
pub fn a_restore_can_be_given_up(factory: Factory<'_>) {
    let (original, restored, key) = two_scenes(factory);
    let give_up = || {
        let restore = Restore::GiveUp { run: key.clone() };
        while ok(restored.restore(restore.clone())) == Progress::More {}
    };
    // Nothing is there yet, which is nobody's mistake.
    give_up();
    let many: Vec<Unit> = (1..=2_000).map(|number| unit(number, 0)).collect();
    let attempt = AttemptRecord {
        operation: 1,
        attempt: 1,
        outcome: AttemptOutcome::Lost,
        at: at(1),
    };
    ok(restored.restore(Restore::History {
        run: key.clone(),
        generation: 1,
        units: many,
        attempts: vec![attempt],
        end: Some(2_000),
    }));
    give_up();
    copy(&original, &restored, &key, 9);
    assert_eq!(
        everything::told(&restored, &key),
        everything::told(&original, &key)
    );
    // It is no part of a restore any more.
    give_up();
    assert!(ok(restored.store.head(&key)).is_some());

    let units = original.units(&key, 1);
    let other = self::key("other");
    ok(restored.restore(history(&other, 1, &units, None)));
    let restore = Restore::GiveUp { run: other.clone() };
    while ok(restored.restore(restore.clone())) == Progress::More {}
    restored.begin("other").grow(1);
    assert_eq!(restored.units(&other, 1).len(), 2);
    assert!(ok(restored.store.attempts(&other, 1)).is_empty());
}

/// It would otherwise take the attempts of another process for its own (S20).
pub fn an_owner_is_new_after_a_restore(factory: Factory<'_>) {
    let (original, mut restored, run) = two_scenes(factory);
    let mut loaded = original.load(&run);
    loaded.head.owner = Owner(70);
    let mut task = super::scene::task(1);
    task.started = Some(Owner(90));
    loaded.tasks = vec![task];
    ok(restored.restore(history(&run, 1, &original.units(&run, 1), None)));
    ok(restored.restore(rest(&run, loaded)));
    assert!(ok(restored.store.enroll()) > Owner(90));
    let mut other = original.load(&run);
    other.head.owner = Owner(80);
    let units = original.units(&run, 1);
    ok(restored.restore(history(&key("other"), 1, &units, None)));
    ok(restored.restore(rest(&key("other"), other)));
    assert!(ok(restored.store.enroll()) > Owner(91));
    if let Some(again) = restored.reopen() {
        restored = again;
        assert!(ok(restored.store.enroll()) > Owner(92));
    }
}

/// Numbers that no store gives, and parts that do not go together: nothing is written.
pub fn what_contradicts_itself_is_not_restored(factory: Factory<'_>) {
    let (original, restored, key) = two_scenes(factory);
    ok(restored.restore(history(&key, 1, &original.units(&key, 1), None)));
    let good = original.load(&key);
    type Change = fn(&mut Loaded);
    let wrong: [(&str, Change); 8] = [
        ("a number", |run| run.head.owner = Owner(u64::MAX)),
        ("a number", |run| run.head.arrivals = u64::MAX),
        ("a status", |run| run.head.status = Status::Completed),
        ("generations", |run| run.head.kept_from = 2),
        ("blocked records", |run| run.head.blocked = true),
        ("two tasks", |run| {
            run.tasks = vec![super::scene::task(1), super::scene::task(1)];
        }),
        ("two timers", |run| {
            run.timers = vec![(1, at(1)), (1, at(2))]
        }),
        ("a row", |run| {
            run.queue = vec![crate::store::Queued {
                arrival: 7,
                at: at(1),
                observation: super::scene::completed(1, super::scene::value(2)),
            }];
        }),
    ];
    for (problem, change) in wrong {
        let mut loaded = good.clone();
        change(&mut loaded);
        let answer = restored.restore(rest(&key, loaded));
        let Err(StoreError::Refused(Refusal::Inconsistent { problem: said, .. })) = &answer else {
            panic!("{problem}: {answer:?}")
        };
        assert!(said.starts_with(problem), "{problem}: {said}");
    }
    assert_eq!(ok(restored.store.head(&key)), None);
    ok(restored.restore(rest(&key, good)));
    // A run that was restored is one like others.
    let head = ok(restored.claim(&key, restored.owner));
    let mut run = Run {
        scene: &restored,
        key,
        head,
    };
    run.commit(Changes {
        tasks: vec![TaskChange::Remove(1)],
        ..no_changes()
    });
}
