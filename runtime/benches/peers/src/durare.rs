//! durare on SQLite, set up as it does by itself.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use durare::{DurableContext, DurableEngine, Error, Result, SqliteProvider, WorkflowOptions};

use crate::{System, milliseconds, rate};

pub enum Durare {}

async fn sequence(ctx: DurableContext, steps: u64) -> Result<u64> {
    for n in 0..steps {
        ctx.step("nothing", || async move { Ok::<_, Error>(n) }).await?;
    }
    Ok(steps)
}

/// Waits for ever where it was begun.
async fn sequence_and_gate(ctx: DurableContext, steps: u64) -> Result<u64> {
    sequence(ctx, steps).await?;
    if CLOSED.load(std::sync::atomic::Ordering::SeqCst) {
        DONE.notify_one();
        std::future::pending::<()>().await;
    }
    Ok(steps)
}

static CLOSED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
static DONE: tokio::sync::Notify = tokio::sync::Notify::const_new();

async fn wide(ctx: DurableContext, width: u64) -> Result<u64> {
    let steps = (0..width).map(|n| ctx.step("nothing", move || async move { Ok::<_, Error>(n) }));
    let mut sum = 0;
    for result in futures::future::join_all(steps).await {
        sum += result?;
    }
    Ok(sum)
}

async fn engine(folder: &Path) -> Arc<DurableEngine> {
    let url = format!("sqlite://{}", folder.join("durare.db").display());
    let provider = SqliteProvider::connect(&url).await.unwrap();
    let mut engine = DurableEngine::new(Arc::new(provider)).await.unwrap();
    engine.register("sequence", sequence);
    engine.register("sequence_and_gate", sequence_and_gate);
    engine.register("wide", wide);
    Arc::new(engine)
}

async fn run(engine: &DurableEngine, name: &str, id: String, input: u64) {
    let options = WorkflowOptions::with_id(id);
    let handle = engine.start::<_, u64>(name, input, options).await.unwrap();
    handle.result().await.unwrap();
}

impl System for Durare {
    const NAME: &'static str = "durare";
    const MOST_STEPS: u64 = u64::MAX;

    async fn workflows(folder: &Path, in_flight: usize, time: Duration) -> f64 {
        let engine = engine(folder).await;
        rate(in_flight, time, move |number| {
            let engine = engine.clone();
            async move { run(&engine, "sequence", format!("s-{number}"), 10).await }
        })
        .await
    }

    async fn long(folder: &Path, steps: u64) -> f64 {
        let engine = engine(folder).await;
        let began = Instant::now();
        run(&engine, "sequence", "long".into(), steps).await;
        began.elapsed().as_secs_f64()
    }

    async fn fan_out(folder: &Path, width: u64) -> f64 {
        let engine = engine(folder).await;
        milliseconds(9, |number| {
            let engine = engine.clone();
            async move { run(&engine, "wide", format!("f-{number}"), width).await }
        })
        .await
    }

    async fn replay(folder: &Path, steps: u64) -> f64 {
        use std::sync::atomic::Ordering::SeqCst;
        CLOSED.store(true, SeqCst);
        let parked = engine(folder).await;
        let options = WorkflowOptions::with_id("long");
        let handle = parked.start::<_, u64>("sequence_and_gate", steps, options).await.unwrap();
        DONE.notified().await;
        drop((handle, parked));
        CLOSED.store(false, SeqCst);
        let began = Instant::now();
        let engine = engine(folder).await;
        engine.recover().await.unwrap();
        let handle = engine.retrieve_workflow::<u64>("long").await.unwrap();
        handle.result().await.unwrap();
        began.elapsed().as_secs_f64() * 1e3
    }
}
