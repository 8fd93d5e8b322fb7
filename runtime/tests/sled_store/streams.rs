//! Items of streams: none of them, nor what they are found by, is lost without a word.

use perennial::history::Decision;
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use perennial_runtime::store::sled::{Salvage, Tamper, import};
use perennial_runtime::store::{
    Changes, Commit, Create, Fence, OpenError, SledStore, Status, Store, StreamRange, export,
};

use crate::world::{World, begin, commit_of, copy, run, unit, wait};

/// Gives out items in units of one each, those of these numbers, from the event on.
fn emit(store: &SledStore, run: &RunKey, of: (u64, Fence), numbers: std::ops::RangeInclusive<u64>) {
    let (generation, fence) = of;
    let mut event = store.head(run).unwrap().unwrap().sequence + 1;
    for number in numbers {
        let mut unit = unit(event);
        unit.decisions.push(Decision::Emitted {
            stream: "output".into(),
            number,
            value: Value::encode(&number).unwrap(),
            site: None,
        });
        event = unit.last() + 1;
        let commit = Commit {
            generation,
            fence,
            ..commit_of(run, unit)
        };
        wait(|ack| store.commit(commit, ack)).unwrap();
    }
}

/// A run with so many items in its first generation, and as many in its second.
fn with_items(items: u64) -> World {
    let world = World::new();
    let (store, order) = (world.open(), run("order-42"));
    begin(&store, &order);
    emit(&store, &order, (1, Fence(1)), 1..=items);
    let mut end = unit(2 * items + 1);
    end.decisions.push(Decision::Completed {
        value: Value::null(),
        open: Vec::new(),
    });
    let mut ended = commit_of(&order, end);
    ended.changes.status = Some(Status::Completed);
    wait(|ack| store.commit(ended, ack)).unwrap();
    let anew = Create {
        run: order.clone(),
        workflow: "order".into(),
        input: Value::null().digest(),
        after: Some(1),
        keys: Vec::new(),
        owner: store.enroll().unwrap(),
        changes: Changes::default(),
    };
    wait(|ack| store.create(anew, ack)).unwrap();
    emit(&store, &order, (2, Fence(2)), items + 1..=2 * items);
    store.close().unwrap();
    drop(store);
    // The journal lets go of what sled has: from here on it depends on sled.
    world.open().close().unwrap();
    world
}

fn numbers(store: &SledStore) -> Vec<u64> {
    let items = store.stream(&run("order-42"), "output", 0, usize::MAX);
    items.unwrap().into_iter().map(|item| item.number).collect()
}

#[test]
fn an_entry_of_an_item_that_is_lost_or_another_one_is_noticed_at_the_opening() {
    let world = with_items(5);
    assert_eq!(numbers(&world.open()), (1..=10).collect::<Vec<_>>());
    for older in [false, true] {
        let copied = World::new();
        copy(&world.path(), &copied.path());
        copied.in_sled(|db| {
            let (key, value) = db.scan_prefix("i").next().unwrap().unwrap();
            let (_, other) = db.scan_prefix("i").next_back().unwrap().unwrap();
            assert_ne!(value, other);
            if older {
                db.insert(key, other).unwrap();
            } else {
                db.remove(key).unwrap();
            }
        });
        let error = copied.refusal();
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    }
}

#[test]
fn an_item_that_cannot_be_found_or_read_is_an_error_with_its_place() {
    let order = run("order-42");
    let first_lines = |store: &SledStore| -> Vec<String> {
        let report = store.verify().unwrap();
        let lines = report.problems.iter().map(|problem| {
            let text = problem.to_string();
            text.lines().next().unwrap().to_owned()
        });
        lines.collect()
    };
    let mut texts = Vec::new();
    for tamper in [
        Tamper::LoseItem(&order, "output", 3),
        Tamper::LoseUnit(&order, 1, 5),
        Tamper::FlipUnit(&order, 1, 5),
    ] {
        let world = with_items(5);
        let store = world.open();
        assert_eq!(store.verify().unwrap().items, 10);
        store.tamper(tamper).unwrap();
        let read = store.stream(&order, "output", 0, 9).unwrap_err();
        texts.push(read.to_string().lines().next().unwrap().to_owned());
        texts.extend(first_lines(&store));
        texts.push(String::new());
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn items_are_exported_and_imported() {
    let world = with_items(300);
    let store = world.open();
    let file = world.path().with_extension("jsonl");
    export::export_to(&store, &file, Timestamp::default()).unwrap();
    let copy = World::new();
    import(&file, copy.path(), export::PartialRuns::Refuse).unwrap();
    let copied = copy.open();
    assert_eq!(numbers(&copied), numbers(&store));
    let report = copied.verify().unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(report.items, 600);
}

/// What the index says is made anew. Of a generation that is lost the items are, and the head says so.
#[test]
fn a_salvage_keeps_the_items_that_are_left() {
    for (lost, whole, left) in [
        (None, true, 1..=20),
        (Some("i"), false, 1..=20),
        (Some("u"), false, 11..=20),
    ] {
        let world = with_items(10);
        if let Some(kind) = lost {
            world.in_sled(|db| {
                let key = db.scan_prefix(kind).nth(3).unwrap().unwrap().0;
                db.remove(key).unwrap();
            });
        }
        let scratch = World::new();
        std::fs::create_dir_all(scratch.path()).unwrap();
        let file = scratch.file("saved.jsonl");
        let salvaged = Salvage::default()
            .run(world.path(), &file, Timestamp::default())
            .unwrap();
        assert_eq!(salvaged.is_whole(), whole, "{salvaged:?}");
        let saved = World::new();
        import(&file, saved.path(), export::PartialRuns::LeaveOut).unwrap();
        let store = saved.open();
        assert_eq!(numbers(&store), left.clone().collect::<Vec<_>>());
        let head = store.head(&run("order-42")).unwrap().unwrap();
        let range = StreamRange {
            name: "output".into(),
            first: *left.start(),
            last: 20,
        };
        assert_eq!(head.streams, [range]);
        assert!(store.verify().unwrap().is_whole());
    }
}
