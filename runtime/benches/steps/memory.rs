//! What a warm run holds.
//!
//! The same runs are started twice over memory stores: once nothing of them is kept, and once all of them.
//! What the heap has more the second time is theirs: the store's share, the timers' and the names' are in
//! both.

use std::time::Duration;

use perennial_runtime::store::MemoryStore;
use perennial_runtime::{Builder, Runtime};

use crate::report::{Line, Report};
use crate::{HEAP, workload};

const RUNS: usize = 10_000;

pub fn measure(tokio: &tokio::runtime::Runtime, report: &Report) {
    if !report.wants("warm_run_bytes") {
        return;
    }
    let bytes = tokio.block_on(async {
        // What is made once, for the first run, is not counted.
        held(|builder| builder.warm_memory(usize::MAX), 1).await;
        let cold = held(|builder| builder.warm_memory(0), RUNS).await;
        let warm = held(|builder| builder.warm_memory(usize::MAX), RUNS).await;
        (warm - cold) / RUNS as f64
    });
    report.say(Line::new("warm_run_bytes", bytes, "bytes", None));
}

/// What so many runs that wait add to the heap.
async fn held(options: impl FnOnce(Builder) -> Builder, runs: usize) -> f64 {
    let builder = workload::register(Runtime::builder(MemoryStore::new()));
    let runtime = options(builder).start().await.unwrap();
    let client = runtime.client();
    let before = settled().await;
    workload::park(&client, runs, 64).await;
    settled().await - before
}

/// What is on the heap, once nobody takes or gives anything any more.
async fn settled() -> f64 {
    let mut before = 0;
    loop {
        let now = HEAP.allocated();
        if now == before {
            return now as f64;
        }
        before = now;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
