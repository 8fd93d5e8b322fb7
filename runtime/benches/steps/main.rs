//! What a step costs, as a ratio to what the disk can do at all, measured in one process and in turns.
//!
//! `cargo bench -p perennial-runtime --bench steps -- [--json] [--dir FOLDER] [--rounds N]`
//!
//! | name | what | unit | ratio |
//! |---|---|---|---|
//! | `limit_1`, `limit_64` | a preallocated file, one writer, records of 300 bytes, `fdatasync`; 1 and 64 committers | commits/s | |
//! | `steps_1`, `steps_64` | workflows of ten steps, the activities do nothing; 1 and 64 in flight; embedded store, `Sync` | steps/s | to the limit of the same number |
//! | `flat_10000` | one run of 10,000 steps: time of the last 1,000 ÷ time of the first 1,000 | ratio | the value |
//! | `replay_memory` | cold replay of that run from the decoded history | events/s | |
//! | `replay_disk` | the same, read from the store | events/s | |
//! | `fanout_100` | one run that calls 100 activities at once | ms | |
#![allow(clippy::unwrap_used, unreachable_pub)]

mod limit;
mod replay;
mod report;
mod workload;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use perennial_runtime::Runtime;
use perennial_runtime::store::{SledStore, Store};

use report::{Line, median};

struct Options {
    json: bool,
    folder: PathBuf,
    rounds: usize,
}

fn options() -> Options {
    let mut options = Options {
        json: false,
        folder: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("steps"),
        rounds: 5,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => options.json = true,
            "--dir" => options.folder = arguments.next().expect("--dir needs a folder").into(),
            "--rounds" => {
                options.rounds = arguments
                    .next()
                    .and_then(|n| n.parse().ok())
                    .expect("--rounds needs a number")
            }
            // What cargo itself passes on.
            "--bench" => {}
            other => panic!("unknown argument {other}; see the head of benches/steps/main.rs"),
        }
    }
    options
}

/// How long each measurement of a round takes.
const SLICE: Duration = Duration::from_millis(1_500);

fn main() {
    let Options {
        json,
        folder,
        rounds,
    } = options();
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let limit = limit::Limit::new(&folder);
    if !json {
        println!("{}", report::machine(&folder, limit.sync_microseconds()));
    }

    let store: Arc<dyn Store> = Arc::new(SledStore::open(folder.join("store")).unwrap());
    let runtime = tokio.block_on(async {
        workload::register(Runtime::builder(Arc::clone(&store)))
            .start()
            .await
            .unwrap()
    });
    let client = runtime.client();
    // Once unmeasured, so that files have their size and caches are warm.
    tokio.block_on(workload::ten_steps(&client, 64, SLICE / 3));
    let (mut limit_1, mut limit_64, mut steps_1, mut steps_64) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rounds {
        limit_1.push(limit.commits(1, SLICE));
        steps_1.push(tokio.block_on(workload::ten_steps(&client, 1, SLICE)));
        limit_64.push(limit.commits(64, SLICE));
        steps_64.push(tokio.block_on(workload::ten_steps(&client, 64, SLICE)));
    }
    let fanout = tokio.block_on(workload::fan_out(&client, rounds * 4));
    let flat = tokio.block_on(workload::long_run(&client));
    let history = tokio.block_on(workload::long_history(&client));
    tokio.block_on(async { drop(runtime) });

    let store = SledStore::open(folder.join("store")).unwrap();
    let memory: Vec<f64> = (0..rounds).map(|_| replay::from_memory(&history)).collect();
    let disk: Vec<f64> = (0..rounds)
        .map(|_| replay::from_store(&store, &history))
        .collect();

    let ratio =
        |a: &[f64], b: &[f64]| median(&a.iter().zip(b).map(|(a, b)| a / b).collect::<Vec<_>>());
    let lines = [
        Line::new("limit_1", median(&limit_1), "commits/s", None),
        Line::new("limit_64", median(&limit_64), "commits/s", None),
        Line::new(
            "steps_1",
            median(&steps_1),
            "steps/s",
            Some(ratio(&steps_1, &limit_1)),
        ),
        Line::new(
            "steps_64",
            median(&steps_64),
            "steps/s",
            Some(ratio(&steps_64, &limit_64)),
        ),
        Line::new("flat_10000", flat, "ratio", Some(flat)),
        Line::new("replay_memory", median(&memory), "events/s", None),
        Line::new("replay_disk", median(&disk), "events/s", None),
        Line::new("fanout_100", fanout, "ms", None),
    ];
    for line in lines {
        println!("{}", if json { line.json() } else { line.table() });
    }
    let _ = std::fs::remove_dir_all(&folder);
}
