//! Steps over the embedded store, and what its disk can do.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use perennial_runtime::Runtime;
use perennial_runtime::store::{SledStore, Store};

use crate::limit::Limit;
use crate::report::{self, Line, Report, median};
use crate::{replay, workload};

/// How long each measurement of a round takes.
const SLICE: Duration = Duration::from_millis(1_500);

/// So many committers, or runs in flight.
struct Crowd {
    size: usize,
    limit: &'static str,
    steps: &'static str,
    commits: Vec<f64>,
    rates: Vec<f64>,
}

impl Crowd {
    fn new(size: usize, limit: &'static str, steps: &'static str) -> Self {
        Self {
            size,
            limit,
            steps,
            commits: Vec::new(),
            rates: Vec::new(),
        }
    }
}

const LONG: [&str; 3] = ["flat_10000", "replay_memory", "replay_disk"];

pub fn measure(tokio: &tokio::runtime::Runtime, folder: &Path, rounds: usize, report: &Report) {
    let mut crowds = vec![
        Crowd::new(1, "limit_1", "steps_1"),
        Crowd::new(64, "limit_64", "steps_64"),
        Crowd::new(512, "limit_512", "steps_512"),
    ];
    crowds.retain(|crowd| report.wants_any(&[crowd.limit, crowd.steps]));
    let (fanout, long) = (report.wants("fanout_100"), report.wants_any(&LONG));
    if crowds.is_empty() && !fanout && !long {
        return;
    }
    let limit = Limit::new(folder);
    report.head(|| report::machine(folder, limit.sync_microseconds()));
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
    for _ in 0..rounds {
        for crowd in &mut crowds {
            crowd.commits.push(limit.commits(crowd.size, SLICE));
            let steps = workload::ten_steps(&client, crowd.size, SLICE);
            crowd.rates.push(tokio.block_on(steps));
        }
    }
    for crowd in &crowds {
        let commits = median(&crowd.commits);
        report.say(Line::new(crowd.limit, commits, "commits/s", None));
    }
    for crowd in &crowds {
        let pairs = crowd.rates.iter().zip(&crowd.commits);
        let ratio = median(
            &pairs
                .map(|(steps, commits)| steps / commits)
                .collect::<Vec<_>>(),
        );
        let steps = median(&crowd.rates);
        report.say(Line::new(crowd.steps, steps, "steps/s", Some(ratio)));
    }
    if fanout {
        let took = tokio.block_on(workload::fan_out(&client, rounds * 4));
        report.say(Line::new("fanout_100", took, "ms", None));
    }
    let history = long.then(|| {
        let flat = tokio.block_on(workload::long_run(&client, rounds));
        report.say(Line::new("flat_10000", flat, "ratio", Some(flat)));
        tokio.block_on(workload::history(&client, workload::long, "long"))
    });
    tokio.block_on(async { drop(runtime) });
    let Some(history) = history else { return };

    let store = SledStore::open(folder.join("store")).unwrap();
    let times = |replay: &dyn Fn() -> Duration| {
        let rates = (0..rounds).map(|_| history.length() as f64 / replay().as_secs_f64());
        median(&rates.collect::<Vec<_>>())
    };
    let memory = times(&|| replay::from_memory(workload::long, &history));
    report.say(Line::new("replay_memory", memory, "events/s", None));
    let disk = times(&|| replay::from_store(workload::long, &store, &history));
    report.say(Line::new("replay_disk", disk, "events/s", None));
}
