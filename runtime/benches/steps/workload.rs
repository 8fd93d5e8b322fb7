//! The workflows that are measured.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use perennial::WorkflowFn;
use perennial::history::History;
use perennial::prelude::*;
use perennial_runtime::{Builder, Client};

/// When each step of the long run began.
#[derive(Clone, Default)]
pub struct Times(Arc<Mutex<Vec<Instant>>>);

#[activity(pure)]
async fn nothing(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

#[activity(pure)]
async fn timed(acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    acx.state::<Times>().0.lock().unwrap().push(Instant::now());
    Ok(n)
}

#[workflow]
pub async fn ten(cx: &Cx, from: u64) -> Result<u64, Error> {
    let mut n = from;
    for _ in 0..10 {
        n = nothing(cx, n).await?;
    }
    Ok(n)
}

#[workflow]
pub async fn long(cx: &Cx, steps: u64) -> Result<u64, Error> {
    for n in 0..steps {
        timed(cx, n).await?;
    }
    Ok(steps)
}

#[workflow]
pub async fn chain(cx: &Cx, steps: u64) -> Result<u64, Error> {
    for n in 0..steps {
        nothing(cx, n).await?;
    }
    Ok(steps)
}

#[workflow]
pub async fn sleeper(cx: &Cx, n: u64) -> Result<u64, Error> {
    cx.sleep(days(30)).await?;
    Ok(n)
}

pub const GO: Message<u64> = Message::new("go");

/// Waits until it is told to go.
#[workflow]
pub async fn waits(cx: &Cx) -> Result<u64, ReceiveError> {
    cx.receive(GO).await
}

pub const OUTPUT: Stream<u64> = Stream::new("output");

/// Gives out an item after each step.
#[workflow]
pub async fn gives(cx: &Cx, items: u64) -> Result<(), Error> {
    for n in 0..items {
        cx.emit(OUTPUT, nothing(cx, n).await?);
    }
    Ok(())
}

#[workflow]
pub async fn wide(cx: &Cx, width: u64) -> Result<u64, Error> {
    let results = join_all((0..width).map(|n| nothing(cx, n))).await;
    Ok(results.into_iter().flatten().sum())
}

static TIMES: std::sync::LazyLock<Times> = std::sync::LazyLock::new(Times::default);

pub fn register(builder: Builder) -> Builder {
    builder
        .workflow(ten)
        .workflow(long)
        .workflow(chain)
        .workflow(sleeper)
        .workflow(wide)
        .workflow(waits)
        .workflow(gives)
        .activities((nothing, timed))
        .state(TIMES.clone())
        .artifact("bench")
}

/// Steps per second with `in_flight` runs at a time.
pub async fn ten_steps(client: &Client, in_flight: usize, time: Duration) -> f64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let began = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..in_flight {
        let client = client.clone();
        workers.spawn(async move {
            let mut steps = 0_u64;
            // At least once.
            while steps == 0 || began.elapsed() < time {
                let id = format!("ten-{}", NEXT.fetch_add(1, Ordering::Relaxed));
                client
                    .start(ten, id, 0)
                    .await
                    .unwrap()
                    .result()
                    .await
                    .unwrap();
                steps += 10;
            }
            steps
        });
    }
    let steps: u64 = workers.join_all().await.into_iter().sum();
    steps as f64 / began.elapsed().as_secs_f64()
}

/// The median time of a run that calls 100 activities at once, in milliseconds.
pub async fn fan_out(client: &Client, times: usize) -> f64 {
    let mut took = Vec::new();
    for n in 0..times {
        let began = Instant::now();
        client
            .start(wide, format!("wide-{n}"), 100)
            .await
            .unwrap()
            .result()
            .await
            .unwrap();
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    crate::report::median(&took)
}

const STEPS: usize = 10_000;

/// The time of the last thousand steps of a long run divided by that of the first thousand; of so many runs the
/// median, since each looks at some tenths of a second alone. The first has the id `long`.
pub async fn long_run(client: &Client, runs: usize) -> f64 {
    let mut ratios = Vec::new();
    for number in 0..runs {
        TIMES.0.lock().unwrap().clear();
        let id = match number {
            0 => "long".to_owned(),
            _ => format!("long-{number}"),
        };
        let run = client.start(long, id, STEPS as u64).await.unwrap();
        run.result().await.unwrap();
        let times = TIMES.0.lock().unwrap();
        let span = |from: usize, to: usize| times[to].duration_since(times[from]).as_secs_f64();
        ratios.push(span(STEPS - 1_001, STEPS - 1) / span(0, 1_000));
    }
    crate::report::median(&ratios)
}

pub async fn history<M, F: WorkflowFn<M>>(client: &Client, workflow: F, id: &str) -> History {
    let run = client.run(workflow, id).unwrap();
    run.history().await.unwrap().history
}

/// Starts runs that sleep, so many at a time.
pub async fn park(client: &Client, runs: usize, in_flight: usize) {
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..in_flight {
        let (client, next) = (client.clone(), Arc::clone(&next));
        workers.spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= runs {
                    return;
                }
                let id = format!("parked-{n}");
                client.start(sleeper, id, n as u64).await.unwrap();
            }
        });
    }
    workers.join_all().await;
}
