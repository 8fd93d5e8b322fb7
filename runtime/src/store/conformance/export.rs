//! Exports of the store, and imports into it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::scene::{Scene, ack, at, key, no_changes, ok, put, unit};
use super::{Damage, Factory, everything, offers};
use crate::store::export::{ExportError, ImportError, PartialRuns, Reader, export, import};
use crate::store::{
    AttemptOutcome, AttemptRecord, Changes, Commit, Head, MemoryStore, OfferChange, Refusal, Store,
    StoreError,
};

fn export_of(scene: &Scene) -> Vec<u8> {
    let mut text = Vec::new();
    match export(&*scene.store, &mut text, at(77)) {
        Ok(exported) => assert_eq!(exported.bytes, text.len() as u64),
        Err(error) => panic!("{error}"),
    }
    text
}

fn import_to(text: &[u8], store: &dyn Store) -> Result<(), ImportError> {
    let mut reader = Reader::new(text, "the export")?;
    import(&mut reader, store, PartialRuns::Refuse).map(drop)
}

#[track_caller]
fn imported(text: &[u8], store: &dyn Store) {
    if let Err(error) = import_to(text, store) {
        panic!("{error}");
    }
}

/// And tells the same, to the last list.
pub fn what_was_imported_is_exported_again_to_the_byte(factory: Factory<'_>) {
    let original = Scene::new(factory);
    everything::make(&original);
    let text = export_of(&original);
    let copy = Scene::new(factory);
    imported(&text, &*copy.store);
    assert!(everything::look(&original) == everything::look(&copy));
    assert!(export_of(&copy) == text, "the second export is another one");
}

/// An export of an empty store is one, too.
pub fn there_may_be_nothing_to_export(factory: Factory<'_>) {
    let (empty, copy) = (Scene::new(factory), Scene::new(factory));
    let text = export_of(&empty);
    imported(&text, &*copy.store);
    assert!(export_of(&copy) == text);
}

/// Each run in it is as it was at one moment.
pub fn a_store_is_exported_while_others_write(factory: Factory<'_>) {
    const RUNS: usize = 8;
    let scene = Scene::new(factory);
    let names: Vec<_> = (0..RUNS).map(|number| format!("run-{number}")).collect();
    let store = Arc::clone(&scene.store);
    let stop = AtomicBool::new(false);
    let heads: Vec<_> = names.iter().map(|name| scene.begin(name).head).collect();
    let write = |name: &str, head: &Head| {
        // Not without end: the export takes the longer the more there is.
        for step in (1..2_000).take_while(|_| !stop.load(Ordering::Relaxed)) {
            let number = head.sequence + step;
            // What one commit changes is all in an export or not at all: as many units as tasks as attempts.
            let changes = Changes {
                units: vec![unit(number, 0)],
                // Of all offers the last one is open, and each other has a value or was dropped.
                offers: vec![
                    OfferChange::Close {
                        operation: step - 1,
                    },
                    offers::open(number, step),
                ],
                next_operation: Some(step + 1),
                tasks: vec![put(step)],
                attempts: vec![AttemptRecord {
                    operation: step,
                    attempt: 1,
                    outcome: AttemptOutcome::Lost,
                    at: at(step),
                }],
                ..no_changes()
            };
            let commit = Commit {
                run: key(name),
                fence: head.fence,
                generation: head.generation,
                sequence: number - 1,
                changes,
            };
            let (ack, answer) = ack();
            store.commit(commit, ack);
            ok(answer.wait());
            if step % 2 == 0 {
                let (ack, answer) = super::scene::ack();
                store.deliver(offers::answer(&key(name), step, "yes", at(step)), ack);
                ok(answer.wait());
            }
        }
    };
    std::thread::scope(|threads| {
        for (name, head) in names.iter().zip(&heads) {
            let write = &write;
            threads.spawn(move || write(name, head));
        }
        for _ in 0..3 {
            let text = export_of(&scene);
            let copy = MemoryStore::new();
            imported(&text, &copy);
            for name in &names {
                let run = key(name);
                let Some(loaded) = ok(copy.load(&run)) else {
                    panic!("{run} is missing")
                };
                let units = ok(copy.history(&run, 1, 1, usize::MAX)).len() - 1;
                let attempts = ok(copy.attempts(&run, 1)).len();
                assert_eq!((loaded.tasks.len(), attempts), (units, units), "{run}");
                let offers = ok(copy.offers(&run, 0, usize::MAX));
                assert_eq!(offers.len(), units, "{run}");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// Nothing is added to a run that is there.
pub fn a_run_that_is_there_is_not_imported(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    scene.begin("order-42").grow(3);
    let text = export_of(&scene);
    let exists = Refusal::Exists {
        run: key("order-42"),
    };
    assert_eq!(
        import_to(&text, &*scene.store),
        Err(ImportError::Store(StoreError::Refused(exists)))
    );
    assert!(export_of(&scene) == text);
}

/// It is an error, and no shorter history.
pub fn a_damaged_run_is_not_passed_over(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    run.grow(9);
    let key = run.key;
    if !scene.damage(Damage::Lose(&key, 1, 5)) {
        return;
    }
    let error = export(&*scene.store, Vec::new(), at(77)).map(drop);
    let gap = StoreError::Gap {
        run: key,
        expected: 5,
        found: Some(6),
    };
    assert_eq!(error, Err(ExportError::Store(gap)));
}
