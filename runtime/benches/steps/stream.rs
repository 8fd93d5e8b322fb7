//! A run that gives out many items, each in a commit of its own, over the embedded store: how long an item takes until
//! an observer has it.

use std::path::Path;
use std::time::{Duration, Instant};

use perennial_runtime::Runtime;

use crate::limit::Limit;
use crate::report::{Line, Report};
use crate::workload::{self, OUTPUT};

const NAMES: [&str; 2] = ["stream_10000", "stream_100"];
/// So many items.
const ITEMS: u64 = 10_000;
/// And so many where all is only to be shown to work.
const FEW: u64 = 100;

pub fn measure(tokio: &tokio::runtime::Runtime, folder: &Path, rounds: usize, report: &Report) {
    if !report.wants_any(&NAMES) {
        return;
    }
    let (name, items) = if rounds == 1 {
        (NAMES[1], FEW)
    } else {
        (NAMES[0], ITEMS)
    };
    let folder = folder.join("stream");
    std::fs::create_dir_all(&folder).unwrap();
    let commit = Limit::new(&folder).sync_microseconds();
    let took = tokio.block_on(observe(&folder.join("store"), items));
    #[allow(clippy::cast_precision_loss)]
    let microseconds = took.as_secs_f64() * 1e6 / items as f64;
    let ratio = Some(microseconds / commit);
    report.say(Line::new(name, microseconds, "µs", ratio));
}

/// From the start of the run to the last item that the observer sees.
async fn observe(folder: &Path, items: u64) -> Duration {
    let builder = workload::register(Runtime::builder(folder));
    let runtime = builder.start().await.unwrap();
    let began = Instant::now();
    let run = runtime.client().start(workload::gives, "gives", items);
    let mut stream = run.await.unwrap().stream(OUTPUT);
    let mut seen = 0;
    while let Some(item) = stream.next().await {
        seen += 1;
        assert_eq!(item.unwrap().number, seen);
    }
    assert_eq!(seen, items);
    began.elapsed()
}
