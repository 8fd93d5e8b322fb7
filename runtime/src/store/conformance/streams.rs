//! Streams: items in the history that are found by their numbers (S28). The numbers in names are those of the
//! acceptance cases, as far as a store sees them.

use perennial::history::{Decision, Unit};
use perennial::value::Value;
use perennial::{MAX_STREAMS, RunKey};

use super::scene::{Run, Scene, create, first_unit, key, no_changes, ok, value};
use super::{Damage, Factory};
use crate::store::{
    Changes, Keep, Progress, Purge, Refusal, Restore, StoreError, StreamItem, StreamRange,
};

/// A decision that gives out an item.
pub(super) fn item(stream: &str, number: u64, value: Value) -> Decision {
    Decision::Emitted {
        stream: stream.to_owned().into(),
        number,
        value,
        site: None,
    }
}

/// An item that is its number.
fn numbered(stream: &str, number: u64) -> Decision {
    match Value::encode(&number) {
        Ok(value) => item(stream, number, value),
        Err(error) => panic!("{error}"),
    }
}

/// The next unit of a run, with these decisions.
fn with(run: &Run<'_>, decisions: Vec<Decision>) -> Changes {
    Changes {
        units: vec![Unit {
            decisions,
            ..run.next_unit(0)
        }],
        ..no_changes()
    }
}

/// Gives out items of a stream in one unit.
pub(super) fn emit(run: &mut Run<'_>, stream: &str, numbers: std::ops::RangeInclusive<u64>) {
    let items = numbers.map(|number| numbered(stream, number)).collect();
    let changes = with(run, items);
    run.commit(changes);
}

pub(super) fn read(scene: &Scene, run: &RunKey, stream: &str) -> Vec<StreamItem> {
    ok(scene.store.stream(run, stream, 0, usize::MAX))
}

fn numbers(items: &[StreamItem]) -> Vec<u64> {
    items.iter().map(|item| item.number).collect()
}

fn range(name: &str, first: u64, last: u64) -> StreamRange {
    StreamRange {
        name: name.into(),
        first,
        last,
    }
}

/// B16, B17: in the order in which they were given out, from any cursor, whatever stands between them.
pub fn b16_b17_items_are_read_from_any_number_on(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    emit(&mut run, "output", 1..=1);
    run.grow(2);
    let between = vec![
        numbered("output", 2),
        numbered("notes", 1),
        numbered("output", 3),
        numbered("output", 4),
    ];
    let changes = with(&run, between);
    run.commit(changes);
    run.grow(1);
    emit(&mut run, "output", 5..=6);
    emit(&mut run, "notes", 2..=2);

    let all = read(&scene, &run.key, "output");
    assert_eq!(numbers(&all), [1, 2, 3, 4, 5, 6]);
    assert_eq!(numbers(&read(&scene, &run.key, "notes")), [1, 2]);
    let units = scene.units(&run.key, 1);
    for item in &all {
        assert_eq!(item.value.as_json(), item.number.to_string());
        let unit = units.iter().rfind(|unit| unit.number < item.event);
        let unit = unit.unwrap_or_else(|| panic!("no unit holds {item:?}"));
        assert_eq!((item.generation, item.at), (1, unit.at));
        let place = usize::try_from(item.event - unit.number).unwrap_or(0);
        assert_eq!(unit.decisions[place - 1], numbered("output", item.number));
    }
    for after in 0..9 {
        for limit in 0..8 {
            let page = ok(scene.store.stream(&run.key, "output", after, limit));
            let expected = all.iter().filter(|item| item.number > after).take(limit);
            assert_eq!(
                page,
                expected.cloned().collect::<Vec<_>>(),
                "{after} {limit}"
            );
        }
    }
    for nothing in ["", "outpu", "output2", "n\0otes"] {
        assert_eq!(read(&scene, &run.key, nothing), []);
    }
    assert_eq!(read(&scene, &key("nobody"), "output"), []);
    let streams = run.load().head.streams;
    assert_eq!(streams, [range("output", 1, 6), range("notes", 1, 2)]);
}

/// B14: what was acknowledged is there once, and nothing else is.
pub fn b14_items_are_there_after_reopening(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    emit(&mut run, "output", 1..=3);
    let key = run.key.clone();
    let (before, head) = (read(&scene, &key, "output"), run.load().head);
    let Some(scene) = scene.reopen() else { return };
    assert_eq!(read(&scene, &key, "output"), before);
    assert_eq!(scene.load(&key).head.streams, head.streams);
}

/// B17: a store keeps no item that leaves a gap or comes twice. Nothing of such a commit is written.
pub fn b17_an_item_out_of_turn_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    emit(&mut run, "output", 1..=2);
    let before = run.load();
    for number in [0, 2, 4, u64::MAX] {
        let changes = with(&run, vec![numbered("output", number)]);
        let refused = run.try_commit(changes);
        assert!(
            matches!(
                refused,
                Err(StoreError::Refused(Refusal::Inconsistent { .. }))
            ),
            "{refused:?}"
        );
    }
    for begins in [0, 2] {
        let changes = with(&run, vec![numbered("notes", begins)]);
        assert!(run.try_commit(changes).is_err());
    }
    let changes = with(&run, vec![numbered("no name", 1)]);
    assert!(run.try_commit(changes).is_err());
    assert_eq!(run.load(), before);
    emit(&mut run, "output", 3..=3);
    assert_eq!(numbers(&read(&scene, &run.key, "output")), [1, 2, 3]);
}

/// S28: a run that begins anew goes on with the numbers, and the items from before are there.
pub fn s28_numbers_go_on_over_generations(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    emit(&mut run, "output", 1..=2);
    run.end();
    run.begin_anew();
    assert_eq!(run.head.streams, [range("output", 1, 2)]);
    emit(&mut run, "output", 3..=4);
    let items = read(&scene, &run.key, "output");
    let places: Vec<_> = items.iter().map(|i| (i.number, i.generation)).collect();
    assert_eq!(places, [(1, 1), (2, 1), (3, 2), (4, 2)]);
    let changes = with(&run, vec![numbered("output", 1)]);
    assert!(run.try_commit(changes).is_err());
    // One that comes with the beginning of a generation too.
    run.end();
    let mut first = first_unit(&run.key, 3);
    first.decisions.push(numbered("output", 5));
    let begin = crate::store::Create {
        after: Some(2),
        ..create(
            &run.key,
            scene.owner,
            Changes {
                units: vec![first],
                ..no_changes()
            },
        )
    };
    ok(scene.create(begin));
    assert_eq!(numbers(&read(&scene, &run.key, "output")), [1, 2, 3, 4, 5]);
}

/// Items go with the history, slice by slice; how far the streams were stays with the head.
pub fn items_are_purged_with_their_run(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    for number in 1..=40 {
        emit(&mut run, "output", number..=number);
    }
    run.end();
    let purge = run.purge_of(7);
    let mut slices = 0;
    while ok(scene.purge(purge.clone())) == Progress::More {
        slices += 1;
        assert_eq!(read(&scene, &run.key, "output"), []);
    }
    assert!(slices > 3, "{slices}");
    assert_eq!(run.load().head.streams, [range("output", 41, 40)]);
    run.begin_anew();
    emit(&mut run, "output", 41..=42);
    assert_eq!(numbers(&read(&scene, &run.key, "output")), [41, 42]);
    run.end();
    let all = Purge {
        keep: Keep::Nothing,
        ..run.purge_of(100)
    };
    while ok(scene.purge(all.clone())) == Progress::More {}
    // Nobody knows that there was such a run.
    let mut run = scene.begin("order-42");
    emit(&mut run, "output", 1..=1);
    assert_eq!(numbers(&read(&scene, &run.key, "output")), [1]);
}

/// What an interrupted purge has left of the items is not read by anybody.
pub fn a_run_that_begins_anew_half_way_through_its_purge_shows_new_items_alone(
    factory: Factory<'_>,
) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    for number in 1..=9 {
        emit(&mut run, "output", number..=number);
    }
    run.end();
    assert_eq!(ok(scene.purge(run.purge_of(3))), Progress::More);
    run.begin_anew();
    assert_eq!(read(&scene, &run.key, "output"), []);
    emit(&mut run, "output", 10..=11);
    assert_eq!(numbers(&read(&scene, &run.key, "output")), [10, 11]);
}

/// S5: an item whose unit is gone is told, and nothing is skipped.
pub fn an_item_that_is_lost_is_noticed(factory: Factory<'_>) {
    for lost in [false, true] {
        let scene = Scene::new(factory);
        let mut run = scene.begin("order-42");
        emit(&mut run, "output", 1..=1);
        let place = run.head.sequence + 1;
        emit(&mut run, "output", 2..=2);
        emit(&mut run, "output", 3..=3);
        let damage = if lost {
            Damage::Lose(&run.key, 1, place)
        } else {
            Damage::Flip(&run.key, 1, place)
        };
        if !scene.damage(damage) {
            continue;
        }
        let page = ok(scene.store.stream(&run.key, "output", 0, 1));
        assert_eq!(numbers(&page), [1]);
        assert_eq!(
            numbers(&ok(scene.store.stream(&run.key, "output", 2, 9))),
            [3]
        );
        for after in [0, 1] {
            let error = scene.store.stream(&run.key, "output", after, 9);
            assert!(
                matches!(error, Err(StoreError::Damaged { .. })),
                "{error:?}"
            );
        }
    }
}

/// Many in one unit, large ones, and as many streams as a run may have.
pub fn many_and_large_items_are_kept(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    emit(&mut run, "output", 1..=3_000);
    let large = (1..=3).map(|number| item("large", number, value(300_000)));
    let changes = with(&run, large.collect());
    run.commit(changes);
    emit(&mut run, "output", 3_001..=3_001);
    let all: Vec<u64> = (1..=3_001).collect();
    assert_eq!(numbers(&read(&scene, &run.key, "output")), all);
    let page = ok(scene.store.stream(&run.key, "output", 2_990, 5));
    assert_eq!(numbers(&page), [2_991, 2_992, 2_993, 2_994, 2_995]);
    let large = read(&scene, &run.key, "large");
    assert!(large.iter().all(|item| item.value == value(300_000)));
    assert_eq!(large.len(), 3);

    let more = 1..MAX_STREAMS - 1;
    let more = more.map(|number| numbered(&format!("{number:0>128}"), 1));
    let changes = with(&run, more.collect());
    run.commit(changes);
    let changes = with(&run, vec![numbered("one-more", 1)]);
    let refused = run.try_commit(changes);
    assert!(
        matches!(refused, Err(StoreError::TooLarge { limit, .. }) if limit == MAX_STREAMS as u64),
        "{refused:?}"
    );
    assert_eq!(run.load().head.streams.len(), MAX_STREAMS);
}

/// A restored run has its items; a head that says something else of them is refused.
pub fn a_restored_run_has_its_items(factory: Factory<'_>) {
    let original = Scene::new(factory);
    let mut run = original.begin("order-42");
    emit(&mut run, "output", 1..=2);
    run.end();
    run.begin_anew();
    emit(&mut run, "output", 3..=4);
    let (key, loaded) = (run.key.clone(), run.load());
    let restored = Scene::new(factory);
    for generation in [1, 2] {
        let units = original.units(&key, generation);
        let end = units.last().filter(|_| generation == 1).map(Unit::last);
        ok(restored.restore(Restore::History {
            run: key.clone(),
            generation,
            units,
            attempts: Vec::new(),
            end,
        }));
    }
    let rest = |streams: Vec<StreamRange>| {
        let mut loaded = loaded.clone();
        loaded.head.streams = streams;
        restored.restore(Restore::Run {
            run: key.clone(),
            loaded: loaded.into(),
        })
    };
    let problem = |streams| match rest(streams) {
        Err(StoreError::Refused(Refusal::Inconsistent { problem, .. })) => problem,
        other => panic!("{other:?}"),
    };
    let others = "other items of streams than its head says";
    assert_eq!(problem(Vec::new()), others);
    assert_eq!(problem(vec![range("output", 1, 5)]), others);
    assert_eq!(problem(vec![range("output", 2, 4)]), others);
    let one = || range("output", 1, 4);
    assert_eq!(problem(vec![one(), range("notes", 1, 1)]), others);
    assert_eq!(problem(vec![one(), one()]), "two streams of one name");
    let cannot = "a stream that cannot be";
    assert_eq!(problem(vec![one(), range("notes", 0, 1)]), cannot);
    assert_eq!(problem(vec![one(), range("notes", 9, 1)]), cannot);
    assert_eq!(problem(vec![one(), range("no name", 1, 1)]), cannot);
    assert_eq!(problem(vec![one(), range("notes", 1, u64::MAX)]), cannot);
    // Of a purge nothing is left but how far it was.
    ok(rest(vec![one(), range("notes", 8, 7)]));
    assert_eq!(
        read(&restored, &key, "output"),
        read(&original, &key, "output")
    );
}
