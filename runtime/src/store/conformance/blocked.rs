//! Blocked records (S16).

use super::Factory;
use super::scene::{Scene, at, create, no_changes, ok, value};
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
    let Created::New(head) = ok(scene.create(next)) else {
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
