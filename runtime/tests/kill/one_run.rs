//! A process that is killed again and again over the life of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use perennial::prelude::*;
use perennial_runtime::Runtime;
use perennial_runtime::store::{MemoryStore, SledStore, Store};

use crate::{completions, run_key, units};

const FOLDER: &str = "PERENNIAL_TEST_KILL_FOLDER";
const SIDE_BY_SIDE: usize = 8;
const LINE: u64 = 260;
const SET: u64 = 440;
const KILLS: usize = 100;

/// Where executions are written down before they do anything.
struct Log(Option<PathBuf>);

#[activity(idempotent)]
async fn step(acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    if let Some(path) = &acx.state::<Log>().0 {
        let mut log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)?;
        log.write_all(format!("{}\n", acx.operation().number).as_bytes())?;
        println!("step {n}");
    }
    Ok(n * 7 + 1)
}

/// Steps in line, then side by side, with timers and recorded values between them.
#[workflow]
async fn life(cx: &Cx) -> Result<u64, Error> {
    let mut sum = 0;
    for n in 0..LINE {
        sum += step(cx, n).await?;
        if n % 50 == 0 {
            cx.sleep(millis(1)).await?;
            sum += cx.record("ten", || 10_u64);
        }
    }
    let mut set = JoinSet::new(cx);
    for n in 0..SET {
        if set.len() == SIDE_BY_SIDE {
            sum += set.next().await.transpose()?.unwrap_or_default();
        }
        set.submit(step(cx, LINE + n));
    }
    while let Some(one) = set.next().await {
        sum += one?;
    }
    Ok(sum)
}

async fn live(store: Arc<dyn Store>, log: Option<PathBuf>) -> u64 {
    let builder = Runtime::builder(store)
        .workflow(life)
        .activity(step)
        .state(Log(log))
        .artifact("kill");
    let runtime = builder.start().await.unwrap();
    runtime
        .client()
        .start(life, "life", ())
        .await
        .unwrap()
        .result()
        .await
        .unwrap()
}

/// The process that is killed: says what it finds recorded, goes on, and says each step.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let store = Arc::new(SledStore::open(folder.join("store")).unwrap());
    let recorded: Vec<String> = completions(&units(&*store, &run_key("life")))
        .keys()
        .map(u64::to_string)
        .collect();
    println!("recorded {}", recorded.join(" "));
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let sum = tokio.block_on(live(store, Some(folder.join("log"))));
    println!("finished {sum}");
}

/// What one life of the process showed.
struct Life {
    recorded: BTreeSet<u64>,
    executed: Vec<u64>,
    finished: Option<u64>,
}

fn executed(folder: &Path) -> Vec<u64> {
    let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    log.lines().map(|line| line.parse().unwrap()).collect()
}

/// Starts the process and kills it after `steps` steps.
fn one_life(folder: &Path, steps: usize) -> Life {
    let before = executed(folder).len();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "one_run::child",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut life = Life {
        recorded: BTreeSet::new(),
        executed: Vec::new(),
        finished: None,
    };
    let mut left = steps;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The test harness writes in front of the first line.
        if let Some((_, list)) = line.split_once("recorded ") {
            life.recorded = list
                .split_whitespace()
                .map(|n| n.parse().unwrap())
                .collect();
        } else if let Some(sum) = line.strip_prefix("finished ") {
            life.finished = Some(sum.parse().unwrap());
        } else if line.starts_with("step ") {
            left = left.saturating_sub(1);
        } else {
            continue;
        }
        if left == 0 && life.finished.is_none() {
            child.kill().unwrap();
            break;
        }
    }
    child.wait().unwrap();
    life.executed = executed(folder).split_off(before);
    life
}

#[test]
fn o06_a_hundred_kills_and_nothing_recorded_is_done_twice() {
    let folder = crate::support::folder_for_sync("kill");
    let mut lives = Vec::new();
    loop {
        // At each place of a step, and right after the start too.
        let life = one_life(&folder, lives.len() * 7 % 18);
        let finished = life.finished;
        lives.push(life);
        if finished.is_some() {
            break;
        }
        assert!(lives.len() < 1_000, "the run goes on with each life");
    }
    let kills = lives.len() - 1;
    assert!(kills >= KILLS, "{kills} kills");

    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let undisturbed = Arc::new(MemoryStore::new());
    let runtime_store: Arc<dyn Store> = undisturbed.clone();
    let (sum, expected) = tokio.block_on(async {
        let builder = Runtime::builder(runtime_store)
            .workflow(life)
            .activity(step)
            .state(Log(None));
        let runtime = builder.start().await.unwrap();
        let sum = runtime
            .client()
            .start(life, "life", ())
            .await
            .unwrap()
            .result()
            .await
            .unwrap();
        (sum, completions(&units(&*undisturbed, &run_key("life"))))
    });
    let store = SledStore::open(folder.join("store")).unwrap();
    let recorded = completions(&units(&store, &run_key("life")));
    let values = |completions: &BTreeMap<u64, (String, String)>| {
        completions.values().cloned().collect::<BTreeSet<_>>()
    };
    assert_eq!(lives.last().unwrap().finished, Some(sum));
    assert_eq!(values(&recorded), values(&expected));
    assert_eq!(recorded.len(), expected.len());

    let mut executions = 0;
    let mut lost = 0;
    for (at, life) in lives.iter().enumerate() {
        let again: Vec<_> = life
            .executed
            .iter()
            .filter(|operation| life.recorded.contains(operation))
            .collect();
        assert!(
            again.is_empty(),
            "life {at} did again what was recorded: {again:?}"
        );
        let next = lives.get(at + 1).map_or_else(
            || recorded.keys().copied().collect(),
            |next| next.recorded.clone(),
        );
        assert!(
            life.recorded.is_subset(&next),
            "what was recorded stays recorded"
        );
        let in_flight = life
            .executed
            .iter()
            .filter(|operation| !next.contains(operation))
            .count();
        assert!(
            in_flight <= SIDE_BY_SIDE,
            "life {at} left {in_flight} attempts"
        );
        executions += life.executed.len();
        lost += in_flight;
    }
    assert!(
        executions <= expected.len() + lost,
        "{executions} executions, {lost} in flight at {kills} kills"
    );
    let report = store.verify().unwrap();
    println!(
        "{kills} kills, {executions} executions for {} steps, {report:?}",
        expected.len()
    );
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
}
