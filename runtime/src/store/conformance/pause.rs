//! Runs that are paused: nothing is told to them, and nothing that arrives is lost (M45).

use super::Factory;
use super::scene::{Run, Scene, at, key, no_changes, ok, put};
use super::{inbox, migrate};
use crate::store::{
    BlockedChange, BlockedRecord, Changes, Created, ListQuery, PauseChange, Refusal, StoreError,
    TaskChange,
};

/// Pauses a run, since so many milliseconds.
pub(super) fn pause(run: &mut Run<'_>, since: u64) {
    run.commit(change(PauseChange::Pause { at: at(since) }));
}

fn change(change: PauseChange) -> Changes {
    Changes {
        pause: Some(change),
        ..no_changes()
    }
}

fn is_claimable(scene: &Scene) -> bool {
    !ok(scene.store.claimable("one", None, 9)).is_empty()
}

/// With the stamps of their arrival, also when it goes on.
pub fn m45_a_paused_run_keeps_what_it_is_told(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    pause(&mut run, 5);
    assert_eq!(run.load().head.paused, Some(at(5)));
    let message = |sent| {
        let deliver = super::scene::deliver(&run.key, 1, at(sent));
        ok(scene.send(crate::store::Deliver {
            observation: inbox::message("approval"),
            ..deliver
        }))
    };
    assert_eq!((message(10).arrival, message(20).arrival), (1, 2));
    let paused = run.load();
    let stamps: Vec<_> = paused
        .queue
        .iter()
        .map(|row| (row.arrival, row.at))
        .collect();
    assert_eq!(stamps, [(1, at(10)), (2, at(20))]);
    assert_eq!(paused.head.inbox.messages, 2);
    run.commit(change(PauseChange::Resume));
    let resumed = run.load();
    assert_eq!((resumed.head.paused, resumed.queue), (None, paused.queue));
}

/// What waits for it is for when it goes on.
pub fn a_paused_run_has_nothing_to_do_but_its_tasks(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    ok(run.deliver(1));
    assert!(is_claimable(&scene));
    pause(&mut run, 5);
    assert!(!is_claimable(&scene));
    ok(run.deliver(2));
    let record = BlockedRecord {
        artifact: "one".into(),
        unfit: false,
        code: "PR001".into(),
        text: "panicked".into(),
        details: perennial::value::Value::null(),
        at: at(4),
    };
    run.commit(Changes {
        blocked: Some(BlockedChange::Put(record)),
        ..no_changes()
    });
    assert!(!is_claimable(&scene));
    run.commit(Changes {
        tasks: vec![put(3)],
        ..no_changes()
    });
    assert!(is_claimable(&scene), "an activity goes on");
    run.commit(Changes {
        tasks: vec![TaskChange::Remove(3)],
        ..no_changes()
    });
    assert!(!is_claimable(&scene));
    run.commit(change(PauseChange::Resume));
    assert!(is_claimable(&scene));
}

/// Whoever pauses it once more changes nothing.
pub fn a_pause_counts_from_its_beginning(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.commit(change(PauseChange::Resume));
    assert_eq!(run.load().head.paused, None);
    pause(&mut run, 5);
    pause(&mut run, 9);
    run.grow(1);
    assert_eq!(run.load().head.paused, Some(at(5)));
    run.commit(change(PauseChange::Resume));
    pause(&mut run, 9);
    assert_eq!(run.load().head.paused, Some(at(9)));
}

/// Whatever ends it; the next generation is not paused either.
pub fn an_end_is_the_end_of_a_pause(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    pause(&mut run, 5);
    run.end();
    assert_eq!(run.load().head.paused, None);
    run.begin_anew();
    assert_eq!(run.load().head.paused, None);
}

/// There is nothing that could be told to it.
pub fn an_ended_run_is_not_paused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.end();
    let before = run.load();
    for refused in [PauseChange::Pause { at: at(5) }, PauseChange::Resume] {
        let refusal = Refusal::Finished {
            run: run.key.clone(),
        };
        assert_eq!(
            run.try_commit(change(refused)),
            Err(StoreError::Refused(refusal))
        );
    }
    assert_eq!(run.load(), before);
}

/// Or those that are not.
pub fn paused_runs_are_listed_apart(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    pause(&mut scene.begin("order-2"), 5);
    scene.begin("order-1");
    scene.begin("order-3");
    let listed = |paused| {
        let query = ListQuery {
            paused,
            limit: 9,
            ..ListQuery::default()
        };
        let runs = ok(scene.store.list(&query)).runs.into_iter();
        runs.map(|(id, _)| id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed(Some(true)), ["order-2"]);
    assert_eq!(listed(Some(false)), ["order-1", "order-3"]);
    assert_eq!(listed(None).len(), 3);
}

/// It is as durable as all else.
pub fn a_pause_is_there_after_reopening(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    pause(&mut run, 5);
    ok(run.deliver(1));
    let (name, before) = (run.key.clone(), run.load());
    let Some(scene) = scene.reopen() else {
        return;
    };
    assert_eq!(scene.load(&name), before);
    assert!(!is_claimable(&scene));
}

/// A run that is moved stays paused under its new name.
pub fn a_pause_goes_over_to_the_run_that_goes_on(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("old");
    pause(&mut run, 5);
    let mut moves = migrate::migrate(&run, "new");
    moves.begin.pause = Some(PauseChange::Pause { at: at(5) });
    let Created::New(head, _) = ok(scene.migrate(moves)) else {
        panic!("it was not there before")
    };
    assert_eq!(head.paused, Some(at(5)));
    assert_eq!(scene.load(&key("new")).head, head);
    assert_eq!(run.load().head.paused, None);
    assert!(!is_claimable(&scene), "its first row waits");
}
