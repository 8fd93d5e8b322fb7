//! Histories: whole, or an exact error (S5).

use perennial::RunKey;
use perennial::history::Unit;
use perennial::wire::RecordError;

use super::scene::{Scene, create, first_unit, key, no_changes, ok};
use super::{Damage, Factory};
use crate::store::{Changes, Create, Created, StoreError};

/// A run with units that begin at 1, 2, 5, 6, 9.
fn grown(scene: &Scene) -> RunKey {
    let mut run = scene.begin("order-42");
    for decisions in [2, 0, 2, 0] {
        run.commit(Changes {
            units: vec![run.next_unit(decisions)],
            ..no_changes()
        });
    }
    run.key
}

fn numbers(units: &[Unit]) -> Vec<u64> {
    units.iter().map(|unit| unit.number).collect()
}

fn read(scene: &Scene, run: &RunKey, from: u64, limit: usize) -> Result<Vec<u64>, StoreError> {
    scene
        .store
        .history(run, 1, from, limit)
        .map(|units| numbers(&units))
}

/// The event after the last of a page is where the next begins.
pub fn pages_go_on_where_the_last_ended(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = grown(&scene);
    let (mut from, mut all) = (1, Vec::new());
    while let page @ [.., last] = &ok(scene.store.history(&run, 1, from, 2))[..] {
        assert!(page.len() <= 2);
        from = last.last() + 1;
        all.extend_from_slice(page);
    }
    assert_eq!(all, scene.units(&run, 1));
    assert_eq!(numbers(&all), [1, 2, 5, 6, 9]);
}

/// It holds the whole unit then.
pub fn a_page_may_begin_inside_a_unit(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = grown(&scene);
    for (from, expected) in [
        (0, 1),
        (1, 1),
        (2, 2),
        (3, 2),
        (4, 2),
        (5, 5),
        (6, 6),
        (8, 6),
        (9, 9),
    ] {
        assert_eq!(ok(read(&scene, &run, from, 1)), [expected], "from {from}");
    }
    assert_eq!(ok(read(&scene, &run, 7, 9)), [6, 9]);
}

/// Nothing, not an error.
pub fn there_is_nothing_beyond_the_end(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = grown(&scene);
    assert!(ok(read(&scene, &run, 10, 9)).is_empty());
    assert!(ok(read(&scene, &run, u64::MAX, 9)).is_empty());
    assert!(ok(read(&scene, &run, 1, 0)).is_empty());
    assert!(ok(scene.store.history(&run, 2, 1, 9)).is_empty());
    assert!(ok(scene.store.history(&run, 0, 1, 9)).is_empty());
    assert!(ok(scene.store.history(&key("nobody"), 1, 1, 9)).is_empty());
}

fn gap(run: &RunKey, expected: u64, found: Option<u64>) -> Result<Vec<u64>, StoreError> {
    Err(StoreError::Gap {
        run: run.clone(),
        expected,
        found,
    })
}

/// By every page that touches the place.
pub fn a_lost_unit_is_noticed(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = grown(&scene);
    if scene.damage(Damage::Lose(&run, 1, 5)) {
        assert_eq!(read(&scene, &run, 1, 9), gap(&run, 5, Some(6)));
        assert_eq!(read(&scene, &run, 4, 9), gap(&run, 5, Some(6)));
        assert_eq!(read(&scene, &run, 5, 9), gap(&run, 5, Some(6)));
        assert_eq!(ok(read(&scene, &run, 1, 2)), [1, 2]);
        assert_eq!(ok(read(&scene, &run, 6, 9)), [6, 9]);
    }
}

/// The head knows how many events there must be.
pub fn a_lost_end_is_noticed(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = grown(&scene);
    if scene.damage(Damage::Lose(&run, 1, 9)) {
        assert_eq!(read(&scene, &run, 1, 9), gap(&run, 9, None));
        assert_eq!(read(&scene, &run, 9, 9), gap(&run, 9, None));
    }
}

/// Also when what is asked for begins later.
pub fn a_lost_beginning_is_noticed(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = grown(&scene);
    if scene.damage(Damage::Lose(&run, 1, 1)) {
        assert_eq!(read(&scene, &run, 1, 9), gap(&run, 1, Some(2)));
        assert_eq!(ok(read(&scene, &run, 2, 1)), [2]);
    }
}

/// With its place; what is not touched is read all the same.
pub fn a_changed_byte_is_noticed(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = grown(&scene);
    if scene.damage(Damage::Flip(&run, 1, 5)) {
        let Err(StoreError::Damaged { place, problem }) = read(&scene, &run, 1, 9) else {
            panic!("it went unnoticed")
        };
        assert!(
            place.contains("order-42") && place.contains("event 5"),
            "{place}"
        );
        assert!(matches!(problem, RecordError::Damaged { .. }));
        assert_eq!(ok(read(&scene, &run, 1, 2)), [1, 2]);
        assert_eq!(ok(read(&scene, &run, 6, 9)), [6, 9]);
    }
}

/// It is told apart from damage.
pub fn newer_software_is_noticed(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let run = grown(&scene);
    if scene.damage(Damage::Raise(&run, 1, 5)) {
        let Err(StoreError::Damaged { problem, .. }) = read(&scene, &run, 1, 9) else {
            panic!("it went unnoticed")
        };
        assert!(matches!(problem, RecordError::Newer { .. }));
    }
}

/// Those of earlier ones stay readable, and their ends are known.
pub fn generations_have_histories_of_their_own(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.grow(3);
    run.end();
    let first = scene.units(&run.key, 1);
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
    run.head = head;
    run.grow(1);
    assert_eq!(scene.units(&run.key, 1), first);
    assert_eq!(numbers(&first), [1, 2, 3, 4, 5]);
    assert_eq!(numbers(&scene.units(&run.key, 2)), [1, 2]);
    if scene.damage(Damage::Lose(&run.key, 1, 5)) {
        assert_eq!(read(&scene, &run.key, 1, 9), gap(&run.key, 5, None));
    }
}
