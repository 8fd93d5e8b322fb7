//! What the tests of the engine share.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub)]

pub mod clock;
pub mod held;
#[cfg(target_os = "linux")]
pub mod mount;
pub mod process;
pub mod seeded;
pub mod waiting;

use std::sync::Arc;

use perennial_runtime::store::{Durability, MemoryStore, SledStore, Store};

/// Runs a test over each store.
pub async fn each_store(test: impl AsyncFn(Arc<dyn Store>)) {
    test(Arc::new(MemoryStore::new())).await;
    let folder = tempfile::tempdir().unwrap();
    // What is shown is the engine; that acknowledged is durable is shown elsewhere.
    let store = SledStore::options()
        .durability(Durability::Os)
        .open(folder.path())
        .unwrap();
    test(Arc::new(store)).await;
}

/// A place that runs are kept in, and that each process opens anew.
pub enum Place {
    Memory(Arc<held::HeldStore>),
    Folder(tempfile::TempDir),
}

impl Place {
    pub fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::new(held::Shared(Arc::clone(store))),
            Self::Folder(folder) => {
                let options = SledStore::options().durability(Durability::Os);
                Arc::new(options.open(folder.path()).unwrap())
            }
        }
    }
}

/// Runs a test over a place of each store.
pub async fn each_place(test: impl AsyncFn(Place)) {
    test(Place::Memory(held::HeldStore::new())).await;
    test(Place::Folder(tempfile::tempdir().unwrap())).await;
}

/// An empty folder in which the embedded store can be durable. The one for temporary files may be in memory.
pub fn folder_for_sync(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// How often a harness does what it does: `short` in the tests, and what the variable says in the long form
/// (`.ci/harness`).
pub fn rounds(variable: &str, short: u64) -> u64 {
    let Ok(text) = std::env::var(variable) else {
        return short;
    };
    text.parse()
        .unwrap_or_else(|_| panic!("{variable} is to be a number, not {text:?}"))
}

/// The choices of a harness: another seed shows other places.
pub fn seed() -> u64 {
    rounds("PERENNIAL_SEED", 1)
}
