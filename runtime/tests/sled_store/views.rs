//! Views: one that is damaged or lost is told, and takes nothing from its run.

use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use perennial_runtime::store::sled::{Salvage, Tamper, import};
use perennial_runtime::store::{
    Changes, Commit, SledStore, Store, StoreError, ViewChange, ViewRecord, export,
};

use crate::world::{World, begin, commit, commit_of, run, unit, wait};

fn show(store: &SledStore, run: &RunKey, number: u64, names: &[&str]) {
    let views = names.iter().map(|name| {
        ViewChange::Put(ViewRecord {
            name: (*name).to_owned(),
            value: Value::encode(&"x".repeat(20_000)).unwrap(),
            data: "String".into(),
            artifact: "test".into(),
            at: Timestamp::from_millis(number),
            event: number,
        })
    });
    let shows = Commit {
        changes: Changes {
            units: vec![unit(number)],
            views: views.collect(),
            ..Changes::default()
        },
        ..commit_of(run, unit(number))
    };
    wait(|ack| store.commit(shows, ack)).unwrap();
}

fn with_views() -> World {
    let world = World::new();
    let (store, order) = (world.open(), run("order-42"));
    begin(&store, &order);
    show(&store, &order, 1, &["status", "total"]);
    store.close().unwrap();
    drop(store);
    // The journal lets go of what sled has: from here on it depends on sled.
    world.open().close().unwrap();
    world
}

#[test]
fn a_view_that_cannot_be_read_is_told_and_harms_nothing_else() {
    let world = with_views();
    let (store, order) = (world.open(), run("order-42"));
    store.tamper(Tamper::FlipView(&order, "status")).unwrap();
    let mut texts = vec![
        store.view(&order, "status").unwrap_err().to_string(),
        store.views(&order).unwrap_err().to_string(),
    ];
    let report = store.verify().unwrap();
    texts.extend(report.problems.iter().map(ToString::to_string));
    let mut out = Vec::new();
    let exported = export::export(&store, &mut out, Timestamp::default());
    texts.push(exported.unwrap_err().to_string());
    insta::assert_snapshot!(texts.join("\n---\n"));
    assert!(store.view(&order, "total").unwrap().is_some());
    let loaded = store.load(&order).unwrap().unwrap();
    assert_eq!(loaded.views[0].value, Value::null());
    assert_eq!(
        loaded.views[1],
        store.view(&order, "total").unwrap().unwrap()
    );
    commit(&store, &order, 2).unwrap();
    show(&store, &order, 3, &["status"]);
    assert_eq!(store.view(&order, "status").unwrap().unwrap().event, 3);
    assert!(store.verify().unwrap().is_whole());
}

#[test]
fn views_are_exported_imported_and_salvaged_as_far_as_they_can_be_read() {
    for lost in [false, true] {
        let world = with_views();
        if lost {
            world.in_sled(|db| {
                let key = db.scan_prefix("v").next().unwrap().unwrap().0;
                db.remove(key).unwrap();
            });
            assert!(matches!(
                world.refusal(),
                perennial_runtime::store::OpenError::Damaged { .. }
            ));
        } else {
            let store = world.open();
            let file = world.path().with_extension("jsonl");
            let exported = export::export_to(&store, &file, Timestamp::default()).unwrap();
            assert_eq!(exported.counts.views, 2);
            let copy = World::new();
            import(&file, copy.path(), export::PartialRuns::Refuse).unwrap();
            let copied = copy.open();
            let order = run("order-42");
            assert_eq!(copied.load(&order), store.load(&order));
            assert_eq!(copied.verify().unwrap().views, 2);
            store.close().unwrap();
        }
        let scratch = World::new();
        std::fs::create_dir_all(scratch.path()).unwrap();
        let file = scratch.file("saved.jsonl");
        let salvaged = Salvage::default()
            .run(world.path(), &file, Timestamp::default())
            .unwrap();
        assert_eq!(salvaged.is_whole(), !lost, "{salvaged:?}");
        let saved = World::new();
        import(&file, saved.path(), export::PartialRuns::Refuse).unwrap();
        let store = saved.open();
        let left: Result<Vec<ViewRecord>, StoreError> = store.views(&run("order-42"));
        assert_eq!(left.unwrap().len(), 2 - usize::from(lost));
    }
}
