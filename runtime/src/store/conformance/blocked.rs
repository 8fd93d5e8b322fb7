//! Blocked records (S16).

use super::scene::{Scene, at, create, no_changes, ok, value};
use super::{Damage, Factory};
use crate::store::{BlockedChange, BlockedRecord, Changes, Create, Created, ListQuery};

fn record(artifact: &str, text: &str) -> BlockedRecord {
    BlockedRecord {
        artifact: artifact.into(),
        unfit: true,
        code: "PR001".into(),
        text: text.into(),
        details: value(20),
        at: at(4),
    }
}

fn put(record: &BlockedRecord) -> Changes {
    Changes {
        blocked: Some(BlockedChange::Put(record.clone())),
        ..no_changes()
    }
}

/// Those of all artifacts, by artifact; cleared together.
pub fn a_blocked_record_stands_until_it_is_cleared(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let (two, one) = (record("two", "changed"), record("one", "inserted"));
    run.commit(put(&two));
    run.commit(put(&one));
    run.grow(1);
    let loaded = run.load();
    assert_eq!(
        (loaded.head.blocked, loaded.blocked),
        (true, vec![one, two])
    );
    run.commit(Changes {
        blocked: Some(BlockedChange::Clear),
        ..no_changes()
    });
    let loaded = run.load();
    assert_eq!((loaded.head.blocked, loaded.blocked), (false, vec![]));
    let query = ListQuery {
        blocked: Some(true),
        limit: 9,
        ..ListQuery::default()
    };
    assert!(ok(scene.store.list(&query)).runs.is_empty());
}

/// Of the same artifact.
pub fn a_new_record_takes_the_place_of_the_old(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let (old, new) = (
        record("one", "old"),
        BlockedRecord {
            unfit: false,
            ..record("one", "new")
        },
    );
    run.commit(put(&old));
    run.commit(put(&new));
    assert_eq!(run.load().blocked, [new]);
}

/// Also of one of the same artifact, and where there is none.
pub fn a_record_takes_the_place_of_all(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let replace = |record: &BlockedRecord| Changes {
        blocked: Some(BlockedChange::Replace(record.clone())),
        ..no_changes()
    };
    let tried = |artifact: &str| {
        let text = "x".repeat(20_000);
        BlockedRecord {
            unfit: false,
            ..record(artifact, &text)
        }
    };
    let claimable = || ok(scene.store.claimable("one", None, 9)).len();
    run.commit(replace(&tried("one")));
    assert_eq!(run.load().blocked, [tried("one")]);
    run.commit(put(&record("one", "changed")));
    run.commit(put(&record("two", "changed")));
    assert_eq!(claimable(), 0);
    run.commit(replace(&tried("one")));
    let loaded = run.load();
    assert_eq!(
        (loaded.head.blocked, loaded.blocked),
        (true, vec![tried("one")])
    );
    assert_eq!(claimable(), 1);
    run.commit(replace(&tried("three")));
    assert_eq!(run.load().blocked, [tried("three")]);
}

/// Its history is another one, and so is what fits it.
pub fn a_next_generation_is_not_blocked(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(put(&record("one", "changed")));
    run.end();
    let next = Create {
        after: Some(1),
        ..create(&run.key, scene.owner, no_changes())
    };
    let Created::New(head, _) = ok(scene.create(next)) else {
        panic!("it follows")
    };
    assert!(!head.blocked);
    assert!(run.load().blocked.is_empty());
}

/// The text of an error with the next few decisions of both sides can be long.
pub fn a_large_record_comes_and_goes(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    for length in [100_000, 10, 400_000] {
        let large = record("one", &"x".repeat(length));
        run.commit(put(&large));
        assert_eq!(run.load().blocked, [large]);
    }
    run.commit(Changes {
        blocked: Some(BlockedChange::Clear),
        ..no_changes()
    });
    assert!(run.load().blocked.is_empty());
}

/// In pages and by their names; others are not among them, whatever they have to do.
pub fn blocked_runs_are_listed_apart(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let error = record("one", "changed");
    for name in ["a-1", "a-2", "a-3", "b-1", "b-2"] {
        scene.begin(name).commit(put(&error));
    }
    scene.begin_in("other", "a-4").commit(put(&error));
    let mut busy = scene.begin("a-15");
    ok(busy.deliver(1));
    busy.grow(1);
    scene.begin("b-0");
    let list = |prefix: &str, after: Option<&str>, limit| {
        let page = ok(scene.store.list(&ListQuery {
            blocked: Some(true),
            prefix: prefix.into(),
            after: after.map(|id| super::scene::key(id).id),
            limit,
            ..ListQuery::default()
        }));
        let ids: Vec<_> = page.runs.iter().map(|(id, _)| id.to_string()).collect();
        (ids, page.more)
    };
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    assert_eq!(list("", None, 2), (ids(&["a-1", "a-2"]), true));
    assert_eq!(
        list("", Some("a-2"), 3),
        (ids(&["a-3", "b-1", "b-2"]), false)
    );
    assert_eq!(list("a-", None, 9), (ids(&["a-1", "a-2", "a-3"]), false));
    assert_eq!(list("b-", Some("a-15"), 1), (ids(&["b-1"]), true));
    assert_eq!(list("c", None, 9), (ids(&[]), false));
    let run = super::scene::key("a-1");
    assert_eq!(ok(scene.store.blocked(&run)), [error]);
    assert!(ok(scene.store.blocked(&busy.key)).is_empty());
    assert!(ok(scene.store.blocked(&super::scene::key("nobody"))).is_empty());
}

/// Nothing of the run depends on it: the run is read and tried, and goes on or is blocked anew.
pub fn a_record_that_cannot_be_read_is_told_and_harms_nothing_else(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let (one, two) = (record("one", "changed"), record("two", "inserted"));
    run.commit(put(&one));
    run.commit(put(&two));
    let told = || {
        let records = ok(scene.store.blocked(&run.key));
        let loaded = ok(scene.store.load(&run.key)).map(|loaded| loaded.blocked);
        assert_eq!(loaded, Some(records.clone()));
        let told = records.into_iter().map(|record| {
            let is_unreadable = record.is_unreadable();
            assert_eq!(is_unreadable, record.text.contains("cannot be read"));
            (record.artifact, record.unfit, is_unreadable)
        });
        told.collect::<Vec<_>>()
    };
    let claimable = |artifact: &str| ok(scene.store.claimable(artifact, None, 9)).len();
    let whole = |artifact: &str| (artifact.to_owned(), true, false);
    let unreadable = (String::new(), false, true);
    assert_eq!((claimable("one"), claimable("two")), (0, 0));
    if !scene.damage(Damage::FlipBlocked(&run.key, "two")) {
        return;
    }
    assert_eq!(told(), [unreadable.clone(), whole("one")]);
    assert_eq!((claimable("one"), claimable("two")), (0, 1));
    // The program that it was of finds something anew.
    run.commit(put(&two));
    assert_eq!(run.load().blocked, [one, two]);
    assert!(scene.damage(Damage::FlipBlocked(&run.key, "one")));
    run.commit(Changes {
        blocked: Some(BlockedChange::Clear),
        ..no_changes()
    });
    let loaded = run.load();
    assert_eq!((loaded.head.blocked, loaded.blocked), (false, vec![]));
}

/// Its records say nothing any more.
pub fn a_run_that_has_ended_is_not_blocked(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(put(&record("one", "changed")));
    run.end();
    let list = |blocked| {
        let query = ListQuery {
            blocked: Some(blocked),
            limit: 9,
            ..ListQuery::default()
        };
        ok(scene.store.list(&query)).runs.len()
    };
    assert_eq!((list(true), list(false)), (0, 1));
}
