//! Views: what runs show of themselves, beside their histories (S28).

use perennial::MAX_VIEWS;
use perennial::value::Value;

use super::Factory;
use super::scene::{Run, Scene, at, no_changes, ok, value};
use crate::store::{Changes, Keep, Refusal, Restore, StoreError, ViewChange, ViewRecord};

pub(super) fn record(name: &str, value: Value) -> ViewRecord {
    ViewRecord {
        name: name.into(),
        value,
        data: "String".into(),
        artifact: "test".into(),
        at: at(3),
        event: 2,
    }
}

pub(super) fn put(name: &str, value: Value) -> ViewChange {
    ViewChange::Put(record(name, value))
}

/// Shows something, with the next unit.
pub(super) fn show(run: &mut Run<'_>, name: &str, bytes: usize) {
    let changes = Changes {
        units: vec![run.next_unit(0)],
        views: vec![put(name, value(bytes))],
        ..no_changes()
    };
    run.commit(changes);
}

fn names(run: &Run<'_>) -> Vec<String> {
    run.load().head.views
}

/// The last value alone, small or large, with the unit or without one; the history has nothing of it.
pub fn a_view_shows_the_last_value(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let shown = |name: &str| ok(scene.store.view(&run.key, name));
    assert_eq!(shown("status"), None);
    assert_eq!(ok(scene.store.views(&run.key)), []);
    let key = run.key.clone();
    for bytes in [10, 300_000, 20_000, 2] {
        show(&mut run, "status", bytes);
        let expected = record("status", value(bytes));
        assert_eq!(ok(scene.store.view(&key, "status")), Some(expected.clone()));
        assert_eq!(ok(scene.store.views(&key)), std::slice::from_ref(&expected));
        assert_eq!(run.load().views, [expected]);
    }
    let units = scene.units(&key, 1);
    assert_eq!(units.len(), 5);
    // Several at once, of which the last of a name counts, and none that is gone.
    run.commit(Changes {
        views: vec![
            put("total", value(5)),
            put("status", value(6)),
            put("total", value(7)),
            ViewChange::Remove("status".into()),
            ViewChange::Remove("nothing".into()),
        ],
        ..no_changes()
    });
    assert_eq!(scene.units(&key, 1), units);
    assert_eq!(ok(scene.store.views(&key)), [record("total", value(7))]);
    assert_eq!(ok(scene.store.view(&key, "status")), None);
    run.commit(Changes {
        views: vec![put("status", value(8))],
        ..no_changes()
    });
    assert_eq!(names(&run), ["total", "status"]);
    let Some(scene) = scene.reopen() else { return };
    let views = ok(scene.store.views(&key));
    assert_eq!(
        views,
        [record("total", value(7)), record("status", value(8))]
    );
}

/// A commit that is refused shows nothing, and so does one with a view beyond its bounds.
pub fn a_view_has_bounds(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    show(&mut run, "status", 10);
    let before = run.load();
    let mut stale = run.commit_of(Changes {
        views: vec![put("status", value(20))],
        ..no_changes()
    });
    stale.sequence = 0;
    assert!(scene.commit(stale).is_err());
    let text = "x".repeat(2_000);
    let typed = |data: &str, artifact: &str| {
        ViewChange::Put(ViewRecord {
            data: data.into(),
            artifact: artifact.into(),
            ..record("status", value(2))
        })
    };
    for views in [
        vec![put("", value(2))],
        vec![put("no name", value(2))],
        vec![put(&"x".repeat(129), value(2))],
        vec![typed(&text, "test")],
        vec![typed("String", &text)],
        (0..=MAX_VIEWS)
            .map(|n| put(&format!("view-{n}"), value(2)))
            .collect(),
    ] {
        let refused = run.try_commit(Changes {
            units: vec![run.next_unit(0)],
            views,
            ..no_changes()
        });
        assert!(
            matches!(refused, Err(StoreError::TooLarge { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(run.load(), before);
    let others = (1..MAX_VIEWS).map(|n| put(&format!("{n:0>128}"), value(1 << 20)));
    run.commit(Changes {
        views: others.collect(),
        ..no_changes()
    });
    assert_eq!(ok(scene.store.views(&run.key)).len(), MAX_VIEWS);
}

/// What a run has shown stays after its end and goes with its purge; a run that begins anew shows nothing of it.
pub fn views_stay_until_the_run_begins_anew_or_is_purged(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    show(&mut run, "status", 20_000);
    run.end();
    let key = run.key.clone();
    let shown = || ok(scene.store.views(&key));
    assert_eq!(shown(), [record("status", value(20_000))]);
    let late = run.try_commit(Changes {
        views: vec![put("status", value(5))],
        ..no_changes()
    });
    let refusal = Refusal::Finished { run: key.clone() };
    assert_eq!(late, Err(StoreError::Refused(refusal)));
    run.begin_anew();
    assert_eq!((shown(), names(&run)), (Vec::new(), Vec::new()));
    show(&mut run, "status", 30);
    assert_eq!(shown(), [record("status", value(30))]);
    run.end();
    run.purge(Keep::Head);
    assert_eq!(shown(), []);
    assert_eq!(ok(scene.store.view(&key, "status")), None);
    run.begin_anew();
    assert_eq!(shown(), []);
    show(&mut run, "status", 40);
    run.end();
    run.purge(Keep::Nothing);
    assert_eq!(shown(), []);
    let mut run = scene.begin("order-42");
    show(&mut run, "other", 5);
    assert_eq!(shown(), [record("other", value(5))]);
}

/// A head that names others than there are is refused.
pub fn a_restored_run_shows_the_same(factory: Factory<'_>) {
    let original = Scene::new(factory);
    let mut run = original.begin("order-42");
    show(&mut run, "status", 20_000);
    show(&mut run, "total", 5);
    let (key, loaded) = (run.key.clone(), run.load());
    let restored = Scene::new(factory);
    ok(restored.restore(Restore::History {
        run: key.clone(),
        generation: 1,
        units: original.units(&key, 1),
        attempts: Vec::new(),
        end: None,
    }));
    let rest = |names: &[&str]| {
        let mut loaded = loaded.clone();
        loaded.head.views = names.iter().map(|name| (*name).to_owned()).collect();
        restored.restore(Restore::Run {
            run: key.clone(),
            loaded: loaded.into(),
        })
    };
    for (names, problem) in [
        (&["status"][..], "other views than its head says"),
        (
            &["status", "total", "more"],
            "other views than its head says",
        ),
        (&["status", "status"], "two views of one name"),
    ] {
        let refused = rest(names);
        assert!(
            matches!(&refused, Err(StoreError::Refused(Refusal::Inconsistent { problem: p, .. })) if *p == problem),
            "{refused:?}"
        );
    }
    ok(rest(&["status", "total"]));
    assert_eq!(
        ok(restored.store.views(&key)),
        ok(original.store.views(&key))
    );
    assert_eq!(restored.load(&key), loaded);
}
