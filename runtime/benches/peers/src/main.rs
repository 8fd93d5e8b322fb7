//! Perennial beside its peers, measured in one process and in turns, on the same disk.
//!
//! `cargo run --release --manifest-path runtime/benches/peers/Cargo.toml -- [--json] [--dir FOLDER] [--rounds N] [--quick]`
//!
//! Perennial runs with `Sync`, on the embedded store: each step is on the device before the next begins. Its
//! peers run on SQLite as they set it up themselves, which does not sync each commit.
//!
//! | name | what | unit |
//! |---|---|---|
//! | `workflows_1`, `workflows_50` | workflows of ten activities that do nothing; so many in flight | workflows/s |
//! | `long_1000`, `long_10000` | one workflow with so many activities, one after another | s |
//! | `fanout_100` | one workflow that calls 100 activities at once | ms |
//! | `replay_1000`, `replay_10000` | cold: a new engine on a store with a workflow that waits after so many activities; until it has gone on and ended | ms |
//!
//! A peer's lines begin with its name, and their ratio says by how much Perennial is better (above 1) or
//! worse. Where a peer would take minutes, it gets fewer steps and is scaled up, which flatters it where its
//! cost grows with the history; the line says so.

mod durare;
mod duroxide;
mod ours;

use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is asked of each system. Each call is on a store of its own.
pub trait System {
    const NAME: &'static str;
    /// More activities than this in one workflow take too long to wait for.
    const MOST_STEPS: u64;

    /// Workflows of ten activities per second.
    async fn workflows(folder: &Path, in_flight: usize, time: Duration) -> f64;
    /// Seconds for one workflow of so many activities.
    async fn long(folder: &Path, steps: u64) -> f64;
    /// Milliseconds for one workflow that calls so many activities at once; the median of some.
    async fn fan_out(folder: &Path, width: u64) -> f64;
    /// Milliseconds until a workflow that was parked after so many activities has ended in a new engine.
    async fn replay(folder: &Path, steps: u64) -> f64;
}

struct Options {
    json: bool,
    folder: PathBuf,
    rounds: usize,
    quick: bool,
}

fn options() -> Options {
    let mut options = Options {
        json: false,
        folder: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/peers"),
        rounds: 3,
        quick: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => options.json = true,
            "--quick" => options.quick = true,
            "--dir" => options.folder = arguments.next().expect("--dir needs a folder").into(),
            "--rounds" => {
                let rounds = arguments.next().and_then(|n| n.parse().ok());
                options.rounds = rounds.expect("--rounds needs a number");
            }
            other => panic!("unknown argument {other}; see the head of src/main.rs"),
        }
    }
    options
}

/// The figures of one system, in the order of [`NAMES`].
type Figures = Vec<(f64, bool)>;

const NAMES: [(&str, &str); 7] = [
    ("workflows_1", "workflows/s"),
    ("workflows_50", "workflows/s"),
    ("long_1000", "s"),
    ("long_10000", "s"),
    ("fanout_100", "ms"),
    ("replay_1000", "ms"),
    ("replay_10000", "ms"),
];

async fn measure<S: System>(options: &Options) -> Figures {
    let scale = if options.quick { 10 } else { 1 };
    let time = Duration::from_secs(3) / scale;
    let fresh = || tempfile::tempdir_in(&options.folder).unwrap();
    let mut figures = Vec::new();
    for in_flight in [1, 50] {
        figures.push((S::workflows(fresh().path(), in_flight, time).await, false));
    }
    for steps in [1_000, 10_000] {
        let done = (steps / u64::from(scale)).min(S::MOST_STEPS);
        let took = S::long(fresh().path(), done).await;
        figures.push((took * steps as f64 / done as f64, done < steps));
    }
    figures.push((S::fan_out(fresh().path(), 100).await, false));
    for steps in [1_000, 10_000] {
        let done = (steps / u64::from(scale)).min(S::MOST_STEPS);
        let took = S::replay(fresh().path(), done).await;
        figures.push((took * steps as f64 / done as f64, done < steps));
    }
    figures
}

fn median(rounds: &[Figures], index: usize) -> (f64, bool) {
    let mut values: Vec<f64> = rounds.iter().map(|figures| figures[index].0).collect();
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], rounds[0][index].1)
}

fn print(options: &Options, system: &str, rounds: &[Figures], ours: &[Figures]) {
    for (index, (name, unit)) in NAMES.into_iter().enumerate() {
        let (value, scaled) = median(rounds, index);
        let (own, _) = median(ours, index);
        let ratio = if unit == "workflows/s" { own / value } else { value / own };
        let ratio = (!system.is_empty()).then_some(ratio);
        let name = if system.is_empty() { name.to_owned() } else { format!("{system}.{name}") };
        if options.json {
            let round = |number: f64| (number * 1_000.0).round() / 1_000.0;
            println!(
                "{}",
                serde_json::json!({ "name": name, "value": round(value), "unit": unit, "ratio": ratio.map(round), "scaled": scaled })
            );
        } else {
            let ratio = ratio.map(|ratio| format!("{ratio:>9.1}")).unwrap_or_default();
            let scaled = if scaled { "  scaled up" } else { "" };
            println!("{name:<24}{value:>12.2} {unit:<12}{ratio}{scaled}");
        }
    }
}

#[tokio::main]
async fn main() {
    let options = options();
    std::fs::create_dir_all(&options.folder).unwrap();
    let (mut ours, mut durare, mut duroxide) = (vec![], vec![], vec![]);
    for _ in 0..options.rounds {
        ours.push(measure::<ours::Perennial>(&options).await);
        durare.push(measure::<durare::Durare>(&options).await);
        duroxide.push(measure::<duroxide::Duroxide>(&options).await);
    }
    if !options.json {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        println!("load {}\n", load.split(' ').next().unwrap_or("unknown"));
    }
    print(&options, "", &ours, &ours);
    print(&options, durare::Durare::NAME, &durare, &ours);
    print(&options, duroxide::Duroxide::NAME, &duroxide, &ours);
    let _ = std::fs::remove_dir_all(&options.folder);
}

/// Calls `one` with ever new numbers from `in_flight` tasks until the time is over, and gives its calls per
/// second.
pub async fn rate<F: Future<Output = ()> + Send>(
    in_flight: usize,
    time: Duration,
    one: impl Fn(u64) -> F + Clone + Send + 'static,
) -> f64 {
    let next = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let began = std::time::Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..in_flight {
        let (next, one) = (next.clone(), one.clone());
        workers.spawn(async move {
            let mut count = 0_u64;
            while began.elapsed() < time {
                one(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)).await;
                count += 1;
            }
            count
        });
    }
    let count: u64 = workers.join_all().await.into_iter().sum();
    count as f64 / began.elapsed().as_secs_f64()
}

/// The median of some measurements of `one`, in milliseconds.
pub async fn milliseconds<F: Future<Output = ()>>(times: u64, one: impl Fn(u64) -> F) -> f64 {
    let mut took = Vec::new();
    for number in 0..times {
        let began = std::time::Instant::now();
        one(number).await;
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took.sort_by(f64::total_cmp);
    took[took.len() / 2]
}
