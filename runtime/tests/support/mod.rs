//! What the tests of the engine share.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub)]

use std::sync::Arc;

use perennial_runtime::store::{Durability, MemoryStore, SledStore, Store};

/// Runs a test over each store.
pub async fn each_store(test: impl AsyncFn(Arc<dyn Store>)) {
    test(Arc::new(MemoryStore::new())).await;
    let folder = tempfile::tempdir().unwrap();
    // What is shown is the engine; that acknowledged is durable is shown elsewhere.
    let store = SledStore::options().durability(Durability::Os).open(folder.path()).unwrap();
    test(Arc::new(store)).await;
}
