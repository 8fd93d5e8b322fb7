//! Many runs at once, in processes that are killed at any moment: as they open the store, work, take over what
//! the journal holds, change its segments, close.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use perennial::prelude::*;
use perennial_runtime::Runtime;
use perennial_runtime::store::{ListQuery, SledStore, Status, Store};
use tokio::task::JoinSet as Tasks;

use crate::support::process::{NoLine, Role, tell};
use crate::support::seeded::Seeded;
use crate::support::{folder_for_sync, rounds, seed};
use crate::{completions, run_key, units};

const FOLDER: &str = "PERENNIAL_TEST_KILLS_FOLDER";
const LIFE: &str = "PERENNIAL_TEST_KILLS_LIFE";
const STARTS: &str = "PERENNIAL_TEST_KILLS_STARTS";
const SIDE_BY_SIDE: u64 = 6;
/// So many runs of one life are in flight.
const IN_FLIGHT: usize = 12;

/// Where executions are written down before they do anything.
struct Log(PathBuf);

/// Something of a stage: no stage begins before the workflow has seen everything of the one before. Fails so
/// many times first.
#[activity(idempotent, retry(attempts = 6, initial = "1ms", cap = "4ms"))]
async fn touch(acx: &ActivityCx, stage: u64, fails: u32) -> Result<u64, Failure> {
    let line = format!("{} {stage}\n", acx.operation().run);
    let mut log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&acx.state::<Log>().0)?;
    log.write_all(line.as_bytes())?;
    if acx.attempt() <= fails {
        return Err(Failure::transient("it is busy"));
    }
    Ok(stage * 7 + 1)
}

/// One after the other, with timers.
#[workflow]
async fn line(cx: &Cx, stages: u64) -> Result<u64, Error> {
    let mut sum = 0;
    for stage in 0..stages {
        sum += touch(cx, stage, u32::try_from(stage % 3)?).await?;
        if stage % 4 == 1 {
            cx.sleep(millis(1 + stage % 5)).await?;
            sum += cx.record("ten", || 10_u64);
        }
    }
    Ok(sum)
}

/// Side by side, again and again.
#[workflow]
async fn fan(cx: &Cx, stages: u64) -> Result<u64, Error> {
    let mut sum = 0;
    for stage in 0..stages {
        let mut set = JoinSet::new(cx);
        for index in 0..SIDE_BY_SIDE {
            set.submit(touch(cx, stage, u32::from(index == 3)));
        }
        while let Some(one) = set.next().await {
            sum += one?;
        }
    }
    Ok(sum)
}

/// What a run comes to, by its number.
fn expected(number: u64) -> (bool, u64, u64) {
    let (is_line, stages) = (number.is_multiple_of(2), 3 + number % 7);
    let tens = (0..stages).filter(|stage| stage % 4 == 1).count() as u64 * 10;
    let sum: u64 = (0..stages).map(|stage| stage * 7 + 1).sum();
    let sum = if is_line {
        sum + tens
    } else {
        sum * SIDE_BY_SIDE
    };
    (is_line, stages, sum)
}

fn number_of(id: &str) -> u64 {
    id.rsplit('-').next().unwrap().parse().unwrap()
}

fn small(folder: &Path) -> SledStore {
    SledStore::options()
        .segment(48 << 10)
        .gather(64 << 10)
        .open(folder.join("store"))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The process that is killed. It starts runs until it has started so many; without a number it waits for
/// all that there are.
#[test]
#[ignore = "only makes sense as another process"]
fn child() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let starts: Option<u64> = std::env::var(STARTS).ok().map(|text| text.parse().unwrap());
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(2)
        .build()
        .unwrap();
    tell("begins");
    let store: Arc<dyn Store> = Arc::new(small(&folder));
    tell("open");
    tokio.block_on(async {
        let runtime = Runtime::builder(Arc::clone(&store))
            .workflow(line)
            .workflow(fan)
            .activity(touch)
            .state(Log(folder.join("log")))
            .artifact("kill")
            .start()
            .await
            .unwrap();
        drop(store);
        match starts {
            Some(starts) => start_runs(&runtime, starts).await,
            None => finish_runs(&runtime).await,
        }
        tell("closing");
        drop(runtime);
        tell("closed");
    });
}

async fn start_runs(runtime: &Runtime, starts: u64) {
    let life: u64 = std::env::var(LIFE).unwrap().parse().unwrap();
    let client = runtime.client();
    let mut tasks = Tasks::new();
    for index in 0..starts {
        // Decides what the run does.
        let number = life * 17 + index;
        let id = format!("{life}-{number}");
        let (is_line, stages, _) = expected(number);
        if is_line {
            let run = client.start(line, id.as_str(), stages).await.unwrap();
            tell(format!("started {id}"));
            tasks.spawn(async move { tell_result(&id, run.result().await.unwrap()) });
        } else {
            let run = client.start(fan, id.as_str(), stages).await.unwrap();
            tell(format!("started {id}"));
            tasks.spawn(async move { tell_result(&id, run.result().await.unwrap()) });
        }
        if tasks.len() == IN_FLIGHT {
            tasks.join_next().await.unwrap().unwrap();
        }
    }
}

fn tell_result(id: &str, value: u64) {
    tell(format!("result {id} {value}"));
}

async fn finish_runs(runtime: &Runtime) {
    let client = runtime.client();
    let page = client.list().limit(100_000).page().await.unwrap();
    for found in page.runs {
        let id = found.run.id.as_str().to_owned();
        let value = if expected(number_of(&id)).0 {
            client.run(line, &id).unwrap().result().await.unwrap()
        } else {
            client.run(fan, &id).unwrap().result().await.unwrap()
        };
        tell_result(&id, value);
    }
    tell("finished");
}

/// When a process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// So long after it began.
    After(Duration),
    /// When it has told so much, and a moment later.
    Told(usize, Duration),
    /// So long after it began to close.
    Closing(Duration),
}

impl Moment {
    fn choose(chance: &mut Seeded) -> Self {
        let micros = |chance: &mut Seeded, most| Duration::from_micros(chance.within(0..most));
        match chance.within(0..10) {
            0..=2 => Self::After(micros(chance, 300_000)),
            3..=7 => Self::Told(
                usize::try_from(chance.within(0..60)).unwrap(),
                micros(chance, 5_000),
            ),
            _ => Self::Closing(micros(chance, 60_000)),
        }
    }
}

/// What a process told before its end.
#[derive(Default)]
struct Told {
    started: Vec<String>,
    results: Vec<(String, u64)>,
    open: bool,
    closing: bool,
    closed: bool,
    finished: bool,
}

impl Told {
    fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["started", id] => self.started.push(id.into()),
            ["result", id, value] => self.results.push((id.into(), value.parse().unwrap())),
            ["open"] => self.open = true,
            ["closing"] => self.closing = true,
            ["closed"] => self.closed = true,
            ["finished"] => self.finished = true,
            _ => {}
        }
    }

    fn place(&self) -> &'static str {
        match (self.open, self.closing, self.closed) {
            (false, ..) => "opening",
            (true, false, _) => "at work",
            (_, true, false) => "closing",
            (_, _, true) => "closed",
        }
    }
}

/// One process: killed at its moment, or without one left to finish.
fn live(folder: &Path, life: u64, starts: u64, moment: Option<Moment>) -> Told {
    let mut role = Role::new("many_runs::child")
        .with(FOLDER, folder)
        .with(LIFE, life.to_string());
    if moment.is_some() {
        role = role.with(STARTS, starts.to_string());
    }
    let process = role.start();
    let mut told = Told::default();
    let (mut until, mut count) = (None, 0);
    loop {
        let line = match until {
            Some(until) => process.line_until(until),
            None => process.line().ok_or(NoLine::Ended),
        };
        match line {
            Ok(line) => {
                told.note(&line);
                count += 1;
                until = until.or(match moment {
                    Some(Moment::After(time)) => Some(Instant::now() + time),
                    Some(Moment::Told(lines, time)) if count > lines => Some(Instant::now() + time),
                    Some(Moment::Closing(time)) if told.closing => Some(Instant::now() + time),
                    _ => None,
                });
            }
            Err(NoLine::Silent) => {
                let ended = process.killed();
                ended.lines.iter().for_each(|line| told.note(line));
                break;
            }
            Err(NoLine::Ended) => {
                let ended = process.ended();
                assert!(ended.status.success(), "{}", ended.last_words());
                break;
            }
        }
    }
    told
}

/// No stage of a run was begun again after a later one.
fn check_log(folder: &Path) -> usize {
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let mut stages: BTreeMap<&str, u64> = BTreeMap::new();
    for line in log.lines() {
        let (run, stage) = line.rsplit_once(' ').unwrap();
        let stage: u64 = stage.parse().unwrap();
        let last = stages.entry(run).or_insert(stage);
        assert!(
            stage >= *last,
            "run {run}: stage {stage} was executed again after stage {last} had begun"
        );
        *last = stage;
    }
    log.lines().count()
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_seen_is_done_again_whenever_a_process_is_killed() {
    let (kills, seed) = (rounds("PERENNIAL_KILLS", 15), seed());
    let folder = folder_for_sync("kills");
    let (mut started, mut results) = (BTreeSet::new(), BTreeMap::new());
    let mut places: BTreeMap<&str, u64> = BTreeMap::new();
    for life in 0..kills {
        let mut chance = Seeded::nth(seed, life);
        let moment = Moment::choose(&mut chance);
        // Those that are to be killed as they close must come to that.
        let starts = match moment {
            Moment::Closing(_) => chance.within(1..12),
            _ => 1_000,
        };
        let told = live(&folder, life, starts, Some(moment));
        *places.entry(told.place()).or_default() += 1;
        started.extend(told.started);
        for (id, value) in told.results {
            assert_eq!(value, expected(number_of(&id)).2, "run {id}, life {life}");
            assert_eq!(results.insert(id, value), None);
        }
    }
    let told = live(&folder, kills, 0, None);
    assert!(told.finished, "the last life ended early");
    let last: BTreeMap<String, u64> = told.results.into_iter().collect();

    let store = small(&folder);
    let query = ListQuery {
        limit: usize::MAX,
        ..ListQuery::default()
    };
    let listed = store.list(&query).unwrap().runs;
    for (id, head) in &listed {
        let id = id.as_str();
        assert_eq!(head.status, Status::Completed, "run {id}");
        assert_eq!(last[id], expected(number_of(id)).2, "run {id}");
        assert!(results.get(id).is_none_or(|value| *value == last[id]));
        let done = completions(&units(&store, &run_key(id)));
        let (is_line, stages, _) = expected(number_of(id));
        let side_by_side = if is_line { 1 } else { SIDE_BY_SIDE };
        assert_eq!(done.len() as u64, stages * side_by_side, "run {id}");
    }
    for id in started.iter().chain(results.keys()) {
        assert!(last.contains_key(id), "run {id} was started, and is lost");
    }
    let report = store.verify().unwrap();
    assert_eq!(report.problems, []);
    let executions = check_log(&folder);
    println!(
        "{kills} kills with seed {seed}: {places:?}; {} runs, {} starts and {} results acknowledged before a kill, \
         {executions} executions, {report:?}",
        listed.len(),
        started.len(),
        results.len(),
    );
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
}
