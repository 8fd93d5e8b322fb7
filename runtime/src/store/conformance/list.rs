//! Lists of runs.

use perennial::RunId;

use super::Factory;
use super::scene::{Scene, create, key, no_changes, ok};
use crate::store::{BlockedChange, BlockedRecord, Changes, Create, Keep, ListQuery, Status};

fn ids(scene: &Scene, query: &ListQuery) -> Vec<String> {
    ok(scene.store.list(query))
        .runs
        .iter()
        .map(|(id, _)| id.to_string())
        .collect()
}

fn query() -> ListQuery {
    ListQuery {
        limit: 99,
        ..ListQuery::default()
    }
}

fn id(text: &str) -> RunId {
    key(text).id
}

/// Each page goes on after a run, which need not be there.
pub fn runs_come_in_pages_in_their_order(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    for name in ["c", "a", "b-1", "b", "d", "B"] {
        scene.begin(name);
    }
    let first = ok(scene.store.list(&ListQuery {
        limit: 4,
        ..query()
    }));
    let names: Vec<_> = first.runs.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!((names, first.more), (vec!["B", "a", "b", "b-1"], true));
    assert_eq!(first.runs[0].1, scene.load(&key("B")).head);
    let after = |text| {
        ids(
            &scene,
            &ListQuery {
                after: Some(id(text)),
                ..query()
            },
        )
    };
    assert_eq!(after("b-1"), ["c", "d"]);
    assert_eq!(after("b-0"), ["b-1", "c", "d"]);
    assert_eq!(after("0"), ["B", "a", "b", "b-1", "c", "d"]);
    assert!(after("d").is_empty());
}

/// Exactly: a full page at the end says that there is nothing more.
pub fn a_page_knows_whether_there_is_more(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    for name in ["a", "b", "c"] {
        scene.begin(name);
    }
    scene.begin("d").end();
    let page = |limit| {
        ok(scene.store.list(&ListQuery {
            limit,
            status: Some(Status::Running),
            ..query()
        }))
    };
    for (limit, expected) in [(2, (2, true)), (3, (3, false)), (4, (3, false))] {
        let page = page(limit);
        assert_eq!((page.runs.len(), page.more), expected, "limit {limit}");
    }
}

/// `a` is neither `a-b` nor `ab`.
pub fn prefixes_and_namespaces_are_kept_apart(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    for (namespace, name) in [
        ("a", "x-1"),
        ("a", "x-2"),
        ("a", "y-1"),
        ("a-b", "x-3"),
        ("ab", "x-4"),
        ("default", "x-5"),
    ] {
        scene.begin_in(namespace, name);
    }
    let within = |namespace: &str, prefix: &str| {
        let namespace = super::scene::key_in(namespace, "x").namespace;
        ids(
            &scene,
            &ListQuery {
                namespace,
                prefix: prefix.into(),
                ..query()
            },
        )
    };
    assert_eq!(within("a", ""), ["x-1", "x-2", "y-1"]);
    assert_eq!(within("a", "x-"), ["x-1", "x-2"]);
    assert_eq!(within("a", "x-2"), ["x-2"]);
    assert_eq!(within("a-b", "x"), ["x-3"]);
    assert!(
        within("a", "z").is_empty() && within("a", "x-12").is_empty() && within("b", "").is_empty()
    );
    let prefix = ListQuery {
        prefix: "x".into(),
        after: Some(id("a")),
        ..query()
    };
    assert_eq!(ids(&scene, &prefix), ["x-5"]);
}

/// In their order, those with runs alone, page by page.
pub fn namespaces_are_listed(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let namespaces = |after: Option<&str>, limit| {
        let after = after.map(|after| super::scene::key_in(after, "x").namespace);
        let found = ok(scene.store.namespaces(after.as_ref(), limit));
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(namespaces(None, 9).is_empty());
    let gone = scene.begin_in("gone", "x");
    for namespace in ["b", "a", "a-b", "a", "ab", "default", "a"] {
        for name in ["1", "2"] {
            if ok(scene.store.head(&super::scene::key_in(namespace, name))).is_none() {
                scene.begin_in(namespace, name);
            }
        }
    }
    assert_eq!(
        namespaces(None, 9),
        ["a", "a-b", "ab", "b", "default", "gone"]
    );
    let mut gone = gone;
    gone.end();
    gone.purge(Keep::Nothing);
    assert_eq!(namespaces(None, 2), ["a", "a-b"]);
    assert_eq!(namespaces(Some("a-b"), 2), ["ab", "b"]);
    assert_eq!(namespaces(Some("aa"), 9), ["ab", "b", "default"]);
    assert!(namespaces(Some("default"), 9).is_empty() && namespaces(None, 0).is_empty());
}

/// And by all of them together.
pub fn runs_are_picked_by_workflow_status_and_blocked(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let other = Create {
        workflow: "other".into(),
        ..create(&key("other"), scene.owner, no_changes())
    };
    ok(scene.create(other));
    scene.begin("running");
    scene.begin("ended").end();
    let record = BlockedRecord {
        artifact: "one".into(),
        unfit: true,
        code: "PR001".into(),
        text: String::new(),
        details: perennial::value::Value::null(),
        at: super::scene::at(1),
    };
    let blocked = Changes {
        blocked: Some(BlockedChange::Put(record)),
        ..no_changes()
    };
    scene.begin("blocked").commit(blocked);
    let workflow = |workflow: &str| ListQuery {
        workflow: Some(workflow.into()),
        ..query()
    };
    assert_eq!(
        ids(&scene, &workflow("order")),
        ["blocked", "ended", "running"]
    );
    assert_eq!(ids(&scene, &workflow("other")), ["other"]);
    let status = |status| ListQuery {
        status: Some(status),
        ..workflow("order")
    };
    assert_eq!(ids(&scene, &status(Status::Completed)), ["ended"]);
    assert_eq!(
        ids(&scene, &status(Status::Running)),
        ["blocked", "running"]
    );
    assert!(ids(&scene, &status(Status::Failed)).is_empty());
    let blocked = |blocked| ListQuery {
        blocked: Some(blocked),
        ..status(Status::Running)
    };
    assert_eq!(ids(&scene, &blocked(true)), ["blocked"]);
    assert_eq!(ids(&scene, &blocked(false)), ["running"]);
}
