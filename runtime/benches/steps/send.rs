//! A message to a run that waits for it, over the embedded store: how long until what it leads to is durable.

use std::path::Path;
use std::time::{Duration, Instant};

use perennial_runtime::Runtime;

use crate::limit::Limit;
use crate::report::{Line, Report};
use crate::workload::{self, GO};

/// So many runs are told something, one after the other, for each round.
const RUNS: usize = 100;

const WARM: [&str; 2] = ["send_warm_p50", "send_warm_p99"];
const COLD: [&str; 2] = ["send_cold_p50", "send_cold_p99"];

pub fn measure(tokio: &tokio::runtime::Runtime, folder: &Path, rounds: usize, report: &Report) {
    let all = [(WARM, "warm", 64 << 20), (COLD, "cold", 0)];
    for (names, name, warm_memory) in all {
        if !report.wants_any(&names) {
            continue;
        }
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let limit = Limit::new(&folder);
        let commit = limit.sync_microseconds();
        let mut took = tokio.block_on(tell(&folder.join("store"), warm_memory, rounds * RUNS));
        took.sort();
        for (name, percent) in names.into_iter().zip([50, 99]) {
            let at = took[(took.len() * percent / 100).min(took.len() - 1)];
            let microseconds = at.as_secs_f64() * 1e6;
            report.say(Line::new(
                name,
                microseconds,
                "µs",
                Some(microseconds / commit),
            ));
        }
    }
}

/// From each send to the result of its run, which ends with the message.
async fn tell(folder: &Path, warm_memory: usize, runs: usize) -> Vec<Duration> {
    let builder = workload::register(Runtime::builder(folder)).warm_memory(warm_memory);
    let runtime = builder.start().await.unwrap();
    let client = runtime.client();
    let mut parked = Vec::new();
    for n in 0..runs {
        let id = format!("waits-{n}");
        parked.push(client.start(workload::waits, id, ()).await.unwrap());
    }
    let mut took = Vec::new();
    for run in parked {
        let began = Instant::now();
        run.send(GO, &1).await.unwrap();
        run.result().await.unwrap();
        took.push(began.elapsed());
    }
    took
}
