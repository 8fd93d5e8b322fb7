//! What is kept of offers: none is lost without a word, and what a damaged store has of them is saved.

use perennial::history::Observation;
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use perennial_runtime::store::sled::{Salvage, Tamper, import};
use perennial_runtime::store::{
    Changes, Commit, Deliver, Delivered, Offer, OfferChange, OpenError, SledStore, Store,
    StoreError, export,
};

use crate::world::{World, begin, commit_of, copy, run, unit, wait};

fn give(store: &SledStore, run: &RunKey, operation: u64) -> Result<Delivered, StoreError> {
    let deliver = Deliver {
        run: run.clone(),
        observation: Observation::StubFulfilled {
            operation,
            value: Value::null(),
            key: None,
        },
        at: Timestamp::from_millis(5),
        tasks: Vec::new(),
        key: None,
        stub: Some("review".into()),
    };
    wait(|ack| store.deliver(deliver, ack))
}

/// A run that has made so many offers, of which each third has a value.
fn with_offers(offers: u64) -> World {
    let world = World::new();
    let store = world.open();
    let order = run("order-42");
    begin(&store, &order);
    let open = |operation| OfferChange::Open {
        operation,
        unit: 1,
        name: "review".into(),
        at: Timestamp::from_millis(1),
    };
    let commit = commit_of(&order, unit(1));
    let commit = Commit {
        changes: Changes {
            offers: (1..=offers).map(open).collect(),
            next_operation: Some(offers + 1),
            ..commit.changes
        },
        ..commit
    };
    wait(|ack| store.commit(commit, ack)).unwrap();
    for operation in (1..=offers).filter(|operation| operation % 3 == 0) {
        give(&store, &order, operation).unwrap();
    }
    store.close().unwrap();
    world
}

fn offers(store: &SledStore) -> Vec<Offer> {
    store.offers(&run("order-42"), 0, usize::MAX).unwrap()
}

fn problems(store: &SledStore) -> Vec<String> {
    let report = store.verify().unwrap();
    let lines = report.problems.iter().map(|problem| {
        let text = problem.to_string();
        text.lines().next().unwrap().to_owned()
    });
    lines.collect()
}

#[test]
fn an_offer_that_is_lost_or_another_one_is_noticed_at_the_opening() {
    let world = with_offers(30);
    drop(world.open());
    for (kind, older) in [("h", false), ("h", true), ("j", false)] {
        let copied = World::new();
        copy(&world.path(), &copied.path());
        copied.in_sled(|db| {
            let (key, value) = db.scan_prefix(kind).next().unwrap().unwrap();
            if older {
                let (_, other) = db.scan_prefix(kind).next_back().unwrap().unwrap();
                assert_ne!(value, other);
                db.insert(key, other).unwrap();
            } else {
                db.remove(key).unwrap();
            }
        });
        let error = copied.refusal();
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    }
}

/// Whoever gives it a value is told so, and nobody else.
#[test]
fn a_damaged_offer_is_an_error_with_its_place() {
    let world = with_offers(3);
    let (store, order) = (world.open(), run("order-42"));
    store.tamper(Tamper::FlipOffer(&order, 2)).unwrap();
    let mut texts = vec![give(&store, &order, 2).unwrap_err().to_string()];
    assert!(!give(&store, &order, 1).unwrap().duplicate);
    assert!(give(&store, &order, 3).unwrap().duplicate);
    texts.extend(problems(&store));
    let mut out = Vec::new();
    let exported = export::export(&store, &mut out, Timestamp::default());
    texts.push(exported.unwrap_err().to_string());

    for lost in [1, 3] {
        let world = with_offers(3);
        let store = world.open();
        store.tamper(Tamper::LoseOffer(&order, lost)).unwrap();
        texts.extend(problems(&store));
    }
    insta::assert_snapshot!(texts.join("\n---\n"));
}

#[test]
fn offers_are_counted_exported_and_imported() {
    let world = with_offers(1_200);
    let store = world.open();
    let report = store.verify().unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(report.offers, 1_200);
    let kinds = store.stat().unwrap().kinds;
    let of_offers = kinds.iter().filter(|kind| kind.kind.contains("offers"));
    let records: Vec<_> = of_offers.map(|kind| (kind.kind, kind.records)).collect();
    assert_eq!(
        records,
        [("offers", 1_200), ("index entries of open offers", 800)]
    );
    let file = world.path().with_extension("jsonl");
    let exported = export::export_to(&store, &file, Timestamp::default()).unwrap();
    assert_eq!(exported.counts.offers, 1_200);
    let other = World::new();
    let imported = import(&file, other.path(), export::PartialRuns::Refuse).unwrap();
    assert_eq!(imported.counts, exported.counts);
    let copied = other.open();
    assert_eq!(offers(&copied), offers(&store));
    let order = run("order-42");
    assert!(give(&copied, &order, 3).unwrap().duplicate);
    assert!(!give(&copied, &order, 4).unwrap().duplicate);
}

/// A run that waits for one that is lost would wait for ever, so it is not whole. Of one that has its value nothing
/// depends on the record.
#[test]
fn a_salvage_keeps_the_offers_that_are_left() {
    for lost in [None, Some(3), Some(4)] {
        let world = with_offers(20);
        drop(world.open());
        world.in_sled(|db| {
            if let Some(lost) = lost {
                let key = db.scan_prefix("h").nth(lost - 1).unwrap().unwrap().0;
                db.remove(key).unwrap();
            }
        });
        let scratch = World::new();
        std::fs::create_dir_all(scratch.path()).unwrap();
        let file = scratch.file("saved.jsonl");
        let salvaged = Salvage::default()
            .run(world.path(), &file, Timestamp::default())
            .unwrap();
        let is_open = lost == Some(4);
        assert_eq!(salvaged.partial.len(), usize::from(is_open));
        if is_open {
            let problems = salvaged.partial[0].problems.join("\n");
            assert!(
                problems.contains("1 of its open offers are missing"),
                "{problems}"
            );
            continue;
        }
        let saved = World::new();
        import(&file, saved.path(), export::PartialRuns::Refuse).unwrap();
        let store = saved.open();
        assert_eq!(offers(&store).len(), 20 - usize::from(lost.is_some()));
        assert!(store.verify().unwrap().is_whole());
        assert!(!give(&store, &run("order-42"), 5).unwrap().duplicate);
        assert!(give(&store, &run("order-42"), 6).unwrap().duplicate);
    }
}
