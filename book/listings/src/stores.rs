//! *Stores and durability*.

use std::path::Path;

use perennial_runtime::store::{Durability, OpenError, SledStore, Store};
use perennial_runtime::{Runtime, StartupError};

use crate::running::{Greeting, give_up, greet, welcome};

// ANCHOR: durability
/// Every acknowledged commit is on the device.
pub async fn start(folder: &Path) -> Result<Runtime, StartupError> {
    Runtime::builder(folder)
        .durability(Durability::Sync) // the default
        .workflow(welcome)
        .workflow(give_up)
        .activity(greet)
        .state(Greeting("Hello"))
        .start()
        .await
}

/// A store with less memory for what sled keeps at hand, opened beforehand.
pub fn open_small(folder: &Path) -> Result<SledStore, OpenError> {
    SledStore::options()
        .durability(Durability::Os)
        .cache(16 << 20)
        .open(folder)
}
// ANCHOR_END: durability

// ANCHOR: profile
pub fn what_it_claims(store: &dyn Store) -> String {
    // As text; `serde` writes it as JSON.
    store.profile().to_string()
}
// ANCHOR_END: profile
