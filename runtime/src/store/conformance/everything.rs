//! Runs with something of every kind, small and large, and all that a store tells of them.

use perennial::RunKey;
use perennial::history::{Channel, Unit};

use super::scene::{Scene, at, completed, key, key_in, no_changes, ok, put, value};
use super::{fork, fulfilments, inbox, keys, offers, pause, slots, streams, update_keys, views};
use crate::store::{
    AttemptOutcome, AttemptRecord, Awaited, BlockedChange, BlockedRecord, Changes, DueTimer,
    FinishedRun, Keep, KeyRecord, ListQuery, Loaded, Offer, OfferChange, Page, ProgramRecord,
    Remains, StreamItem, TimerChange, Waiting,
};

/// Those in the namespace `default`, and one in another.
pub(super) fn runs() -> Vec<RunKey> {
    let names = [
        "ended",
        "forked",
        "fresh",
        "large",
        "moved",
        "moved-on",
        "offered",
        "paused",
        "purged",
        "purged-anew",
        "small",
        "told",
        "told-anew",
    ];
    let mut runs: Vec<_> = names.map(key).into();
    runs.push(key_in("other", "small"));
    runs
}

/// Makes them.
pub(super) fn make(scene: &Scene) {
    for (name, bytes) in [("small", 10), ("large", 20_000)] {
        let mut run = scene.begin(name);
        streams::emit(&mut run, "output", 1..=2);
        run.grow(2);
        run.commit(Changes {
            attempts: vec![attempt("before".into())],
            ..no_changes()
        });
        run.end();
        run.begin_anew();
        let text = "x".repeat(bytes);
        let record = BlockedRecord {
            artifact: "one".into(),
            unfit: true,
            code: "PR001".into(),
            text: text.clone(),
            details: value(bytes),
            at: at(3),
        };
        let timer = |operation| TimerChange::Put {
            operation,
            deadline: at(operation),
        };
        run.commit(Changes {
            units: vec![run.next_unit(bytes / 100)],
            enqueue: vec![completed(1, value(bytes)), completed(2, value(bytes))],
            tasks: (1..bytes as u64 / 5).map(put).collect(),
            timers: (1..bytes as u64 / 5).map(timer).collect(),
            attempts: vec![attempt(text), attempt("after".into())],
            blocked: Some(BlockedChange::Put(record)),
            next_operation: Some(9),
            ..no_changes()
        });
        views::show(&mut run, "status", bytes);
        views::show(&mut run, "total", 5);
        streams::emit(&mut run, "output", 3..=bytes as u64 / 10 + 3);
        streams::emit(&mut run, "notes", 1..=1);
    }
    let mut ended = scene.begin("ended");
    ok(ended.deliver(1));
    ended.end();
    for (artifact, bytes) in [("one", 10), ("two", 20_000)] {
        ok(scene.record_program(ProgramRecord {
            artifact: artifact.into(),
            manifest: value(bytes),
            at: at(bytes as u64),
        }));
    }
    let mut moved = scene.begin("moved");
    moved.grow(1);
    ok(scene.migrate(super::migrate::migrate(&moved, "moved-on")));
    scene.begin("fresh");
    scene.begin_in("other", "small").grow(1);
    tell(scene);
    offer(scene);
    pause(scene);
    fork::make(scene, "forked");
    let mut purged = scene.begin("purged");
    purged.end();
    purged.purge(Keep::Head);
    let mut anew = scene.begin("purged-anew");
    streams::emit(&mut anew, "output", 1..=3);
    anew.end();
    anew.purge(Keep::Head);
    anew.begin_anew();
    anew.grow(3);
    streams::emit(&mut anew, "output", 4..=5);
}

/// Runs that were told something, of which one has begun anew.
fn tell(scene: &Scene) {
    for name in ["told", "told-anew"] {
        let mut run = scene.begin(name);
        run.commit(Changes {
            awaited: Some(Awaited::of([(Channel::Message, "approval")])),
            enqueue: vec![inbox::message("approval"), inbox::signal("refresh")],
            ..no_changes()
        });
        for number in 0..3 {
            let key = format!("key-{number}");
            ok(scene.send(keys::keyed(&run.key, &key, "yes", at(7))));
        }
        if name == "told" {
            // One to itself, and one to nobody: two results wait for it.
            let message = || inbox::message("approval");
            run.commit(Changes {
                slots: vec![
                    slots::slot(1, &run.key, message(), 8),
                    slots::slot(2, &key("nobody"), message(), 8),
                ],
                ..no_changes()
            });
        }
        update_keys::accept(&mut run, &["key-1"]);
        if name == "told-anew" {
            run.end();
            run.begin_anew();
            // Two are left of those before.
            ok(scene.send(keys::keyed(&run.key, "key-1", "no", at(8))));
            run.commit(Changes {
                awaited: Some(Awaited::Anything),
                ..no_changes()
            });
        }
    }
}

/// A run that has made offers in two generations, of which something has become.
fn offer(scene: &Scene) {
    let mut run = scene.begin("offered");
    offers::offer(&mut run, &[1, 2]);
    ok(scene.send(offers::answer(&run.key, 1, "yes", at(7))));
    run.end();
    run.begin_anew();
    offers::offer(&mut run, &(3..=700).collect::<Vec<_>>());
    // One that it fulfils itself, and one of nobody: two results wait for it.
    run.commit(Changes {
        slots: vec![
            fulfilments::gives(701, &run.key, 6, "yes"),
            fulfilments::gives(702, &key("nobody"), 1, "yes"),
        ],
        ..no_changes()
    });
    ok(scene.send(offers::answer(&run.key, 4, "yes", at(8))));
    run.commit(Changes {
        units: vec![run.next_unit(0)],
        offers: vec![OfferChange::Close { operation: 5 }],
        ..no_changes()
    });
}

/// A run that is paused, and was told something.
fn pause(scene: &Scene) {
    let mut run = scene.begin("paused");
    pause::pause(&mut run, 5);
    ok(run.deliver(1));
}

fn attempt(error: String) -> AttemptRecord {
    AttemptRecord {
        operation: 1,
        attempt: 1,
        outcome: AttemptOutcome::Failed { error },
        at: at(3),
    }
}

/// A run as a store tells it: what is beside its histories, and those by generation with their attempts.
pub(super) type Told = (Option<Loaded>, Vec<(Vec<Unit>, Vec<AttemptRecord>)>);

/// What a store tells of one run.
pub(super) fn told(scene: &Scene, run: &RunKey) -> Told {
    let loaded = ok(scene.store.load(run));
    let head = ok(scene.store.head(run));
    assert_eq!(loaded.as_ref().map(|loaded| &loaded.head), head.as_ref());
    let generations = head.map_or(0, |head| head.generation);
    let histories = (1..=generations).map(|generation| {
        let attempts = ok(scene.store.attempts(run, generation));
        (scene.units(run, generation), attempts)
    });
    (loaded, histories.collect())
}

/// All that a store tells of all of them.
#[derive(PartialEq)]
pub(super) struct All {
    programs: Vec<ProgramRecord>,
    runs: Vec<Told>,
    keys: Vec<Vec<KeyRecord>>,
    items: Vec<Vec<StreamItem>>,
    offers: Vec<Vec<Offer>>,
    waiting: Vec<Waiting>,
    pages: Vec<Page>,
    due: Vec<DueTimer>,
    claimable: Vec<Vec<RunKey>>,
    finished: Vec<Vec<FinishedRun>>,
}

pub(super) fn look(scene: &Scene) -> All {
    let store = &scene.store;
    let pages = runs().into_iter().map(|run| {
        ok(store.list(&ListQuery {
            namespace: run.namespace,
            limit: 99,
            ..ListQuery::default()
        }))
    });
    let artifacts = ["one", "two"].into_iter();
    let claimable = artifacts.map(|artifact| ok(store.claimable(artifact, None, 99)));
    let remains = [Remains::Whole, Remains::Head].into_iter();
    let finished = remains.map(|remains| ok(store.finished(remains, at(u64::MAX), None, 99)));
    All {
        programs: ok(store.programs()),
        runs: runs().iter().map(|run| told(scene, run)).collect(),
        keys: runs()
            .iter()
            .map(|run| ok(store.keys(run, 0, usize::MAX)))
            .collect(),
        items: runs()
            .iter()
            .flat_map(|run| ["output", "notes"].map(|name| streams::read(scene, run, name)))
            .collect(),
        offers: runs()
            .iter()
            .map(|run| ok(store.offers(run, 0, usize::MAX)))
            .collect(),
        waiting: ok(store.waiting(&Default::default(), None, usize::MAX)),
        pages: pages.collect(),
        due: ok(store.due(None, usize::MAX)),
        claimable: claimable.collect(),
        finished: finished.collect(),
    }
}
