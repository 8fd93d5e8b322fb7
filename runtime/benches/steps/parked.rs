//! A store with many runs that sleep. One process makes it, and another one opens it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use perennial_runtime::Runtime;

use crate::report::{Line, Report};
use crate::workload;

/// What one of the processes does.
#[derive(Clone, Copy)]
pub enum Child {
    /// Starts so many runs, and says how much memory it has taken, in MB.
    Park(usize),
    /// Opens the store, and says how many seconds that took, and how much memory.
    Open,
}

impl Child {
    pub fn parse(what: &str, runs: &str) -> Self {
        match what {
            "park" => Self::Park(runs.parse().unwrap()),
            "open" => Self::Open,
            other => panic!("no child of this bench does {other}"),
        }
    }

    pub async fn run(self, folder: &Path) {
        let began = Instant::now();
        let builder = workload::register(Runtime::builder(folder));
        let runtime = builder.start().await.unwrap();
        let took = began.elapsed().as_secs_f64();
        let client = runtime.client();
        match self {
            Self::Park(runs) => {
                workload::park(&client, runs, 512).await;
                println!("{}", resident());
            }
            Self::Open => {
                // It is up.
                workload::ten_steps(&client, 1, Duration::ZERO).await;
                println!("{took} {}", resident());
            }
        }
        let _ = runtime.drain(Duration::from_secs(10)).await;
    }
}

/// Resident memory of this process in MB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kilobytes.map_or(f64::NAN, |kilobytes: f64| kilobytes * 1_024.0 / 1e6)
}

pub fn measure(folder: &Path, rounds: usize, report: &Report) {
    let (names, runs) = if rounds == 1 {
        let names = ["parked_2k_made_mb", "parked_2k_open_s", "parked_2k_rss_mb"];
        (names, "2000")
    } else {
        let names = [
            "parked_200k_made_mb",
            "parked_200k_open_s",
            "parked_200k_rss_mb",
        ];
        (names, "200000")
    };
    if !report.wants_any(&names) {
        return;
    }
    let folder = folder.join("parked");
    let made = child("park", runs, &folder)[0];
    let [open, resident] = child("open", runs, &folder)[..] else {
        panic!("the child says two numbers");
    };
    let units = ["MB", "s", "MB"];
    for ((name, value), unit) in names.into_iter().zip([made, open, resident]).zip(units) {
        report.say(Line::new(name, value, unit, None));
    }
}

/// Runs this program again, and gives the numbers that it says.
fn child(what: &str, runs: &str, folder: &Path) -> Vec<f64> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--child", what, runs, "--dir"]).arg(folder);
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the child that was to {what}");
    let said = String::from_utf8(output.stdout).unwrap();
    let numbers = said.split_whitespace().map(|number| number.parse());
    numbers.collect::<Result<_, _>>().unwrap()
}
