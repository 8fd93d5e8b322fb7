//! What is stored of forks is whole, and goes into an export and out of it.

use std::sync::Arc;

use perennial::Timestamp;
use perennial_runtime::store::export::{PartialRuns, Reader, export, import};
use perennial_runtime::store::{Durability, MemoryStore, SledStore, Store};
use perennial_runtime::{Reuse, Runtime};

use crate::world::*;

fn sled(folder: &std::path::Path) -> Arc<SledStore> {
    let options = SledStore::options().durability(Durability::Os);
    Arc::new(options.open(folder).unwrap())
}

fn text_of(store: &dyn Store) -> String {
    let mut text = Vec::new();
    export(store, &mut text, Timestamp::from_millis(1)).unwrap();
    String::from_utf8(text).unwrap()
}

/// Has forks of a run that has begun anew, of one with all kinds of things open, and of one that tells itself something.
async fn make(runtime: &Runtime, world: &World) {
    let client = runtime.client();
    let over = charged(runtime, "old", &[1]).await;
    over.send(A, &0).await.unwrap();
    soon(over.result()).await.unwrap();
    let start = client.start(adds, "old", ()).reuse(Reuse::AfterFinish);
    let old = start.await.unwrap();
    old.send(A, &5).await.unwrap();
    has_events(&old, 8).await;
    let fork = old.fork(8, "anew").await.unwrap();
    fork.send(A, &1).await.unwrap();
    has_events(&fork, 14).await;
    fork.fork(14, "again").await.unwrap();
    fork.pause().await.unwrap();
    old.fork(1, "begins").await.unwrap();
    let opens = client.start(opens, "opens", ()).await.unwrap();
    world.gate.begun().await;
    opens.fork(1, "opened").await.unwrap();
    world.gate.begun().await;
    let later = client.start(later, "later", ()).await.unwrap();
    later.send(B, &30).await.unwrap();
    later.send(A, &10).await.unwrap();
    has_events(&later, 6).await;
    let fork = later.fork(6, "sooner").await.unwrap();
    fork.send(B, &31).idempotency_key("k").await.unwrap();
    let tells = client.start(tells, "tells", "old".into()).await.unwrap();
    soon(tells.result()).await.unwrap();
    let told = tells.fork(3, "told").await.unwrap();
    soon(told.result()).await.unwrap();
}

#[tokio::test]
async fn what_is_stored_of_forks_is_whole_and_the_same_in_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    {
        let runtime = runtime(sled(folder.path()), &world).await;
        make(&runtime, &world).await;
    }
    let store = sled(folder.path());
    let report = store.verify().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let text = text_of(&*store);
    drop(store);

    let copied = tempfile::tempdir().unwrap();
    let copy = sled(copied.path());
    let memory = MemoryStore::new();
    for store in [&*copy as &dyn Store, &memory] {
        let mut reader = Reader::new(text.as_bytes(), "copy.jsonl").unwrap();
        import(&mut reader, store, PartialRuns::Refuse).unwrap();
        assert_eq!(text_of(store), text);
    }
    let report = copy.verify().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    drop(copy);

    // They go on from there.
    world.gate.open(9);
    let runtime = runtime(sled(copied.path()), &world).await;
    let client = runtime.client();
    let anew = client.run(adds, "anew").unwrap();
    anew.resume().await.unwrap();
    for (id, sum) in [("anew", 6), ("again", 6), ("begins", 0)] {
        let run = client.run(adds, id).unwrap();
        run.send(A, &0).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), sum, "{id}");
    }
    let sooner = client.run(later, "sooner").unwrap();
    sooner.send(A, &20).await.unwrap();
    assert_eq!(soon(sooner.result()).await.unwrap(), (10, 20, 31));
}
