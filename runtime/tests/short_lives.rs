//! Programs that end right after they were told that something is done, and programs that open a store which
//! has only just been let go of (RW-25, RW-27).
//!
//! Variables: `PERENNIAL_SHORT_LIVES` (how many processes, 12), `PERENNIAL_REOPENINGS` (how many rounds, 8),
//! `PERENNIAL_SEED` (1).
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use perennial::prelude::*;
use perennial::{RunId, RunKey};
use perennial_runtime::store::{Durability, SledStore, Store as _};
use perennial_runtime::{RunState, Runtime};
use support::process::{Ended, Role, tell};
use support::seeded::Seeded;
use support::{folder_for_sync, rounds, seed};

const FOLDER: &str = "PERENNIAL_TEST_LIVES_FOLDER";
const ROUND: &str = "PERENNIAL_TEST_LIVES_ROUND";
const END: &str = "PERENNIAL_TEST_LIVES_END";

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// It kills itself when `start` has returned.
    KilledWhenStarted,
    /// It exits when `start` has returned.
    ExitWhenStarted,
    /// It kills itself when the run's result has been told.
    KilledWhenDone,
    /// It exits when the run's result has been told.
    ExitWhenDone,
    /// It kills itself when the second activity begins.
    KilledInSecond,
    /// It exits when the second activity begins.
    ExitInSecond,
}

const ENDS: [End; 6] = [
    End::KilledWhenStarted,
    End::ExitWhenStarted,
    End::KilledWhenDone,
    End::ExitWhenDone,
    End::KilledInSecond,
    End::ExitInSecond,
];

/// Where executions are counted, and in which run the second activity ends the process.
struct World {
    counter: PathBuf,
    end: Option<(String, End)>,
}

impl World {
    fn count(&self, run: &RunId, what: &str) -> Result<(), std::io::Error> {
        let mut counter = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.counter)?;
        counter.write_all(format!("{run} {what}\n").as_bytes())
    }
}

fn end(killed: bool) -> ! {
    if killed {
        let this = rustix::process::getpid();
        rustix::process::kill_process(this, rustix::process::Signal::KILL).unwrap();
    }
    std::process::exit(0)
}

#[activity(idempotent)]
async fn first(acx: &ActivityCx, round: u64) -> Result<u64, Failure> {
    acx.state::<World>().count(&acx.operation().run, "first")?;
    Ok(round * 3)
}

#[activity(idempotent)]
async fn second(acx: &ActivityCx, value: u64) -> Result<u64, Failure> {
    let world = acx.state::<World>();
    world.count(&acx.operation().run, "second")?;
    match &world.end {
        Some((run, which)) if *run == acx.operation().run.as_str() => match which {
            End::KilledInSecond => end(true),
            End::ExitInSecond => end(false),
            _ => Ok(value + 1),
        },
        _ => Ok(value + 1),
    }
}

#[workflow]
async fn two(cx: &Cx, round: u64) -> Result<u64, Error> {
    let value = first(cx, round).await?;
    Ok(second(cx, value).await?)
}

async fn runtime(folder: &Path, end: Option<(String, End)>) -> Runtime {
    let world = World {
        counter: folder.join("counter"),
        end,
    };
    let builder = Runtime::builder(folder.join("store"))
        .workflow(two)
        .activities((first, second))
        .state(world)
        .artifact("short-lives");
    builder.start().await.unwrap()
}

fn tokio() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// The process: what it has been told it tells, and ends.
#[test]
#[ignore = "only makes sense as another process"]
fn child() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let round: u64 = std::env::var(ROUND).unwrap().parse().unwrap();
    let name = std::env::var(END).unwrap();
    let which = *ENDS.iter().find(|end| format!("{end:?}") == name).unwrap();
    tokio().block_on(async {
        let runtime = runtime(&folder, Some((format!("run-{round}"), which))).await;
        let run = runtime
            .client()
            .start(two, format!("run-{round}"), round)
            .await
            .unwrap();
        tell(format!("started run-{round}"));
        match which {
            End::KilledWhenStarted => end(true),
            End::ExitWhenStarted => end(false),
            _ => {}
        }
        let value = run.result().await.unwrap();
        tell(format!("result run-{round} {value}"));
        end(which == End::KilledWhenDone)
    });
}

fn live(folder: &Path, round: u64, end: End) -> Ended {
    let process = Role::new("child")
        .with(FOLDER, folder)
        .with(ROUND, round.to_string())
        .with(END, format!("{end:?}"))
        .start();
    process.ended()
}

/// RW-27, points 1, 2 and 4.
#[test]
fn what_a_program_was_told_is_there_however_it_ends_right_after() {
    let (lives, seed) = (rounds("PERENNIAL_SHORT_LIVES", 12), seed());
    let folder = folder_for_sync("short-lives");
    let mut ends = BTreeMap::new();
    for round in 0..lives {
        let end = *Seeded::nth(seed, round).one(&ENDS);
        *ends.entry(end).or_insert(0) += 1;
        let ended = live(&folder, round, end);
        let said = &ended.lines;
        let what = format!("round {round}, {end:?}: {said:?}, {}", ended.last_words());
        let killed = matches!(
            end,
            End::KilledWhenStarted | End::KilledWhenDone | End::KilledInSecond
        );
        assert_eq!(ended.status.code(), (!killed).then_some(0), "{what}");
        // Its second activity may have begun before `start` returned.
        let in_second = matches!(end, End::KilledInSecond | End::ExitInSecond);
        let started = said.contains(&format!("started run-{round}"));
        assert!(started || in_second, "{what}");
        let done = matches!(end, End::KilledWhenDone | End::ExitWhenDone);
        let result = format!("result run-{round} {}", round * 3 + 1);
        assert_eq!(said.contains(&result), done, "{what}");

        // Who opens it now finds the run, as it was told.
        let store = SledStore::open(folder.join("store")).unwrap_or_else(|error| panic!("{error}"));
        let run = RunKey::new(
            "default".parse().unwrap(),
            format!("run-{round}").parse().unwrap(),
        );
        let head = store
            .head(&run)
            .unwrap()
            .unwrap_or_else(|| panic!("{what}"));
        // A run of little work may have ended before the process did that was only told of its start.
        assert!(head.status.is_finished() || !done, "{what}");
        assert!(!head.status.is_finished() || !in_second, "{what}");
    }
    tokio().block_on(async {
        let runtime = runtime(&folder, None).await;
        for round in 0..lives {
            let run = runtime.client().run(two, format!("run-{round}")).unwrap();
            assert_eq!(run.result().await.unwrap(), round * 3 + 1);
        }
    });
    // The second activity begins when the workflow has seen the result of the first.
    let counter = std::fs::read_to_string(folder.join("counter")).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for line in counter.lines() {
        let (run, what) = line.split_once(' ').unwrap();
        if what == "second" {
            seen.insert(run);
        } else {
            assert!(!seen.contains(run), "{run}: the first ran again");
        }
    }
    assert_eq!(seen.len() as u64, lives);
    println!("{lives} processes with seed {seed}: {ends:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// RW-25, point 1.
#[test]
fn a_store_is_opened_right_after_it_was_let_go_of() {
    let rounds = rounds("PERENNIAL_REOPENINGS", 8);
    let folder = folder_for_sync("reopenings");
    let tokio = tokio();
    for round in 0..rounds {
        // Also with a process in between that was killed.
        let between = round % 3 == 2;
        if between {
            live(&folder, 1_000_000 + round, End::KilledWhenStarted);
        }
        tokio.block_on(async {
            let runtime = runtime(&folder, None).await;
            let client = runtime.client();
            let run = client
                .start(two, format!("run-{round}"), round)
                .await
                .unwrap();
            assert_eq!(run.result().await.unwrap(), round * 3 + 1);
            let status = run.status().await.unwrap();
            assert_eq!(status.state, RunState::Completed);
            if round % 2 == 0 {
                drop(runtime);
            } else {
                assert_eq!(
                    runtime
                        .drain(std::time::Duration::from_secs(60))
                        .await
                        .unfinished,
                    0
                );
            }
        });
    }
    let store = SledStore::open(folder.join("store")).unwrap();
    assert!(store.verify().unwrap().is_whole());
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
}

/// RW-25, point 3: on a runtime of tokio with one thread, which a drop that waits for a task would stop.
#[tokio::test]
async fn a_runtime_may_be_dropped_where_other_tasks_wait_for_the_thread() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..4 {
        let world = World {
            counter: folder.path().join("counter"),
            end: None,
        };
        let builder = Runtime::builder(folder.path().join("store"))
            .durability(Durability::Os)
            .workflow(two)
            .activities((first, second))
            .state(world);
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let run = client
            .start(two, format!("run-{round}"), round)
            .await
            .unwrap();
        // In the middle of its work, from within a task, or by nobody's hand when the task is aborted.
        match round {
            0 => drop(runtime),
            1 => tokio::spawn(async move { drop(runtime) }).await.unwrap(),
            2 => {
                let holds = tokio::spawn(async move {
                    let _held = runtime;
                    std::future::pending::<()>().await;
                });
                tokio::task::yield_now().await;
                holds.abort();
                assert!(holds.await.unwrap_err().is_cancelled());
            }
            _ => {
                assert_eq!(run.result().await.unwrap(), round * 3 + 1);
                for earlier in 0..round {
                    let run = client.run(two, format!("run-{earlier}")).unwrap();
                    assert_eq!(run.result().await.unwrap(), earlier * 3 + 1);
                }
            }
        }
    }
}
