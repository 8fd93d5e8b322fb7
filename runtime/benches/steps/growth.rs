//! How cost grows with the length of a run (RW-23). Over the memory store, so that no disk is in the way.

use std::sync::Arc;
use std::time::Instant;

use perennial::history::History;
use perennial_runtime::store::{MemoryStore, Store};
use perennial_runtime::{Client, Runtime};

use crate::report::{Line, Report};
use crate::{replay, workload};

const NAMES: [&str; 4] = [
    "seq_4000_1000",
    "join_4000_1000",
    "replay_10000_2500",
    "replay_peak_ratio",
];

/// Either kind of run.
#[derive(Clone, Copy)]
enum Shape {
    /// One activity after the other.
    Chain,
    /// All at once.
    Wide,
}

pub fn measure(tokio: &tokio::runtime::Runtime, rounds: usize, report: &Report) {
    if !report.wants_any(&NAMES) {
        return;
    }
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    tokio.block_on(async {
        let builder = workload::register(Runtime::builder(Arc::clone(&store)));
        let runtime = builder.start().await.unwrap();
        let bench = Bench {
            client: runtime.client(),
            store,
            rounds,
        };
        for (name, shape) in [(NAMES[0], Shape::Chain), (NAMES[1], Shape::Wide)] {
            if report.wants(name) {
                let growth = bench.growth(name, shape).await;
                report.say(Line::new(name, growth, "ratio", Some(growth)));
            }
        }
        if report.wants_any(&NAMES[2..]) {
            let (chain, wide) = (
                bench.replays(Shape::Chain).await,
                bench.replays(Shape::Wide).await,
            );
            for (name, value) in [
                (NAMES[2], chain.0.max(wide.0)),
                (NAMES[3], chain.1.max(wide.1)),
            ] {
                report.say(Line::new(name, value, "ratio", Some(value)));
            }
        }
    });
}

struct Bench {
    client: Client,
    store: Arc<dyn Store>,
    rounds: usize,
}

impl Bench {
    /// The time of 4,000 activities ÷ that of 1,000, of each the shortest.
    async fn growth(&self, name: &str, shape: Shape) -> f64 {
        // Once unmeasured, so that caches are warm.
        self.run(format!("{name}-warm"), shape, 1_000).await;
        let (mut short, mut long) = (f64::INFINITY, f64::INFINITY);
        for round in 0..self.rounds * 2 {
            let id = |length| format!("{name}-{length}-{round}");
            short = short.min(self.run(id("short"), shape, 1_000).await);
            long = long.min(self.run(id("long"), shape, 4_000).await);
        }
        long / short
    }

    /// How many seconds a run takes.
    async fn run(&self, id: String, shape: Shape, activities: u64) -> f64 {
        let began = Instant::now();
        match shape {
            Shape::Chain => {
                let run = self.client.start(workload::chain, id, activities);
                run.await.unwrap().result().await.unwrap();
            }
            Shape::Wide => {
                let run = self.client.start(workload::wide, id, activities);
                run.await.unwrap().result().await.unwrap();
            }
        }
        began.elapsed().as_secs_f64()
    }

    /// The time an event of 10,000 ÷ that of 2,500, and the peak of the heap for 10,000.
    async fn replays(&self, shape: Shape) -> (f64, f64) {
        // Each activity has two events, and a run has two more.
        let (short, long) = (2_500 / 2 - 1, 10_000 / 2 - 1);
        let mut histories = Vec::new();
        for activities in [short, long] {
            let id = match shape {
                Shape::Chain => format!("replayed-chain-{activities}"),
                Shape::Wide => format!("replayed-wide-{activities}"),
            };
            self.run(id.clone(), shape, activities).await;
            histories.push(match shape {
                Shape::Chain => workload::history(&self.client, workload::chain, &id).await,
                Shape::Wide => workload::history(&self.client, workload::wide, &id).await,
            });
        }
        let store = &*self.store;
        let an_event = |history: &History| {
            let replay = |_| match shape {
                Shape::Chain => replay::from_store(workload::chain, store, history),
                Shape::Wide => replay::from_store(workload::wide, store, history),
            };
            let shortest = (0..self.rounds * 3).map(replay).min().unwrap();
            shortest.as_secs_f64() / history.length() as f64
        };
        let growth = an_event(&histories[1]) / an_event(&histories[0]);
        let peak = match shape {
            Shape::Chain => replay::peak(workload::chain, store, &histories[1]),
            Shape::Wide => replay::peak(workload::wide, store, &histories[1]),
        };
        (growth, peak)
    }
}
