//! Writing to the store in a folder. Whoever wants to know is told of each step that is acknowledged, and of
//! each that is shown.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use perennial_runtime::store::{
    Ack, Committed, Durability, Loaded, OpenError, SledStore, Store, StoreError,
};

use crate::script::{Script, Step};

/// A run, and how many of its steps were acknowledged, or were shown.
pub(crate) type Acked = (usize, u64);

/// Is told of them.
pub(crate) type Tell = Arc<dyn Fn(Acked) + Send + Sync>;

/// So much gathers in the journal before sled takes it over: then sled is at work all the time.
pub(crate) const LITTLE: usize = 96 << 10;
/// Then it is while the store is closed.
pub(crate) const MUCH: usize = 8 << 20;

/// Segments of the journal are small, so that there are many, and smaller than the largest commits.
pub(crate) fn open(
    folder: &Path,
    durability: Durability,
    gather: usize,
) -> Result<SledStore, OpenError> {
    SledStore::options()
        .durability(durability)
        .segment(64 << 10)
        .gather(gather)
        .open(folder)
}

/// Makes a store. `None`: it cannot keep its promise in this file system, and says so.
pub(crate) fn make(folder: &Path, durability: Durability) -> Option<()> {
    match open(folder, durability, LITTLE) {
        Err(OpenError::NoSync { reason, .. }) => {
            eprintln!("passed over: no synchronous attribute here ({reason})");
            None
        }
        made => made
            .map(drop)
            .map(Some)
            .unwrap_or_else(|error| panic!("{error}")),
    }
}

/// So many runs for each of so many threads.
pub(crate) fn scripts(threads: usize, runs: usize) -> Vec<Vec<(usize, Script)>> {
    let of = |thread| (thread * runs..(thread + 1) * runs).map(|run| (run, Script::new(run)));
    (0..threads).map(|thread| of(thread).collect()).collect()
}

/// Many threads write so many steps, each of its own runs, while another reads.
pub(crate) fn write_beside_readers(
    store: &SledStore,
    scripts: &mut [Vec<(usize, Script)>],
    steps: u64,
    tell: &Tell,
) {
    let over = AtomicBool::new(false);
    let runs = scripts.iter().map(Vec::len).sum();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut seen: Vec<_> = (0..runs).map(Script::new).collect();
            while !over.load(Ordering::Relaxed) {
                read(store, &mut seen, tell);
            }
        });
        let writing: Vec<_> = scripts
            .iter_mut()
            .map(|scripts| {
                threads.spawn(move || {
                    for _ in 0..steps {
                        step(store, scripts, tell).unwrap();
                    }
                })
            })
            .collect();
        let ended: Vec<_> = writing.into_iter().map(|thread| thread.join()).collect();
        over.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok), "a thread panicked");
    });
}

/// One step of each run, all at once.
pub(crate) fn step(
    store: &SledStore,
    scripts: &mut [(usize, Script)],
    tell: &Tell,
) -> Result<(), StoreError> {
    let (answer, answered) = channel();
    let mut commits = Vec::new();
    for (run, script) in scripts.iter_mut() {
        let (run, step) = (*run, script.next());
        let (answer, tell, steps) = (answer.clone(), Arc::clone(tell), script.steps());
        let ack: Ack<()> = Box::new(move |result| {
            if result.is_ok() {
                tell((run, steps));
            }
            drop(tell);
            let _ = answer.send(result);
        });
        match step {
            Step::Commit(commit) => {
                let ack: Ack<Committed> = Box::new(|made| ack(made.map(drop)));
                commits.push((*commit, ack));
            }
            step => step.hand_over(store, ack),
        }
    }
    drop(answer);
    store.commit_all(commits);
    answered.iter().collect()
}

/// Reads each run, which also makes sled write. What is shown is promised as well: `seen` are the runs as they
/// were shown last (S4).
fn read(store: &SledStore, seen: &mut [Script], tell: &Tell) {
    for (run, seen) in seen.iter_mut().enumerate() {
        let Ok(Some(Loaded { head, .. })) = store.load(&seen.run) else {
            continue;
        };
        let shown = seen.run.clone();
        if seen.go_to(&shown, head.sequence) {
            tell((run, seen.steps()));
        }
        let from = head.sequence.saturating_sub(5).max(1);
        store.history(&shown, 1, from, 10).unwrap();
        store.due(None, 10).unwrap();
    }
}
