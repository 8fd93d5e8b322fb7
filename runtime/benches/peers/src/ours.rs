//! Perennial on its embedded store, with `Sync`.

use std::path::Path;
use std::time::{Duration, Instant};

use perennial::prelude::*;
use perennial_runtime::Runtime;

use crate::{System, milliseconds, rate};

pub enum Perennial {}

#[activity(pure)]
async fn nothing(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

/// Holds until the process that replays is there.
#[activity(pure)]
async fn gate(acx: &ActivityCx) -> Result<(), Failure> {
    if acx.state::<Closed>().0 {
        std::future::pending::<()>().await;
    }
    Ok(())
}

struct Closed(bool);

#[workflow]
async fn sequence(cx: &Cx, steps: u64) -> Result<u64, Error> {
    for n in 0..steps {
        nothing(cx, n).await?;
    }
    Ok(steps)
}

#[workflow]
async fn sequence_and_gate(cx: &Cx, steps: u64) -> Result<u64, Error> {
    for n in 0..steps {
        nothing(cx, n).await?;
    }
    gate(cx).await?;
    Ok(steps)
}

#[workflow]
async fn wide(cx: &Cx, width: u64) -> Result<u64, Error> {
    let results = join_all((0..width).map(|n| nothing(cx, n))).await;
    Ok(results.into_iter().flatten().sum())
}

async fn runtime(folder: &Path, closed: bool) -> Runtime {
    Runtime::builder(folder)
        .workflow(sequence)
        .workflow(sequence_and_gate)
        .workflow(wide)
        .activities((nothing, gate))
        .state(Closed(closed))
        .artifact("peers")
        .start()
        .await
        .unwrap()
}

impl System for Perennial {
    const NAME: &'static str = "perennial";
    const MOST_STEPS: u64 = u64::MAX;

    async fn workflows(folder: &Path, in_flight: usize, time: Duration) -> f64 {
        let runtime = runtime(folder, false).await;
        let client = runtime.client();
        rate(in_flight, time, move |number| {
            let client = client.clone();
            async move {
                let run = client.start(sequence, format!("s-{number}"), 10).await.unwrap();
                run.result().await.unwrap();
            }
        })
        .await
    }

    async fn long(folder: &Path, steps: u64) -> f64 {
        let runtime = runtime(folder, false).await;
        let began = Instant::now();
        let run = runtime.client().start(sequence, "long", steps).await.unwrap();
        run.result().await.unwrap();
        began.elapsed().as_secs_f64()
    }

    async fn fan_out(folder: &Path, width: u64) -> f64 {
        let runtime = runtime(folder, false).await;
        let client = runtime.client();
        milliseconds(9, |number| {
            let client = client.clone();
            async move {
                let run = client.start(wide, format!("f-{number}"), width).await.unwrap();
                run.result().await.unwrap();
            }
        })
        .await
    }

    async fn replay(folder: &Path, steps: u64) -> f64 {
        let parked = runtime(folder, true).await;
        let run = parked.client().start(sequence_and_gate, "long", steps).await.unwrap();
        while run.history().await.unwrap().history.length() < 2 * steps + 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop((run, parked));
        let began = Instant::now();
        let runtime = runtime(folder, false).await;
        let run = runtime.client().run(sequence_and_gate, "long").unwrap();
        run.result().await.unwrap();
        began.elapsed().as_secs_f64() * 1e3
    }
}
