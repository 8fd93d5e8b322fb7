//! duroxide on SQLite. Its dispatchers look for work every millisecond instead of its usual 100, which is
//! what serves it best with one workflow in flight.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use duroxide::providers::sqlite::SqliteProvider;
use duroxide::runtime::registry::ActivityRegistry;
use duroxide::runtime::{Runtime, RuntimeOptions};
use duroxide::{ActivityContext, Client, OrchestrationContext, OrchestrationRegistry, OrchestrationStatus};

use crate::{System, milliseconds, rate};

pub enum Duroxide {}

async fn sequence(ctx: &OrchestrationContext, steps: &str) -> Result<(), String> {
    let steps: u64 = steps.parse().map_err(|_| "a number")?;
    for n in 0..steps {
        ctx.schedule_activity("nothing", n.to_string()).await?;
    }
    Ok(())
}

struct Engine {
    runtime: Arc<Runtime>,
    client: Arc<Client>,
}

async fn engine(folder: &Path) -> Engine {
    let url = format!("sqlite:{}?mode=rwc", folder.join("duroxide.db").display());
    let store = Arc::new(SqliteProvider::new(&url, None).await.unwrap());
    let activities = ActivityRegistry::builder()
        .register("nothing", |_: ActivityContext, input: String| async move { Ok(input) })
        .build();
    let orchestrations = OrchestrationRegistry::builder()
        .register("sequence", |ctx: OrchestrationContext, steps: String| async move {
            sequence(&ctx, &steps).await?;
            Ok::<_, String>(steps)
        })
        .register("sequence_and_gate", |ctx: OrchestrationContext, steps: String| async move {
            sequence(&ctx, &steps).await?;
            Ok::<_, String>(ctx.schedule_wait("gate").await)
        })
        .register("wide", |ctx: OrchestrationContext, width: String| async move {
            let width: u64 = width.parse().map_err(|_| "a number")?;
            let calls = (0..width).map(|n| ctx.schedule_activity("nothing", n.to_string()));
            for result in ctx.join(calls.collect::<Vec<_>>()).await {
                result?;
            }
            Ok::<_, String>(String::new())
        })
        .build();
    let options = RuntimeOptions {
        dispatcher_min_poll_interval: Duration::from_millis(1),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::start_with_options(store.clone(), activities, orchestrations, options).await;
    Engine { runtime, client: Arc::new(Client::new(store)) }
}

async fn ended(client: &Client, id: &str) {
    let status = client.wait_for_orchestration(id, Duration::from_secs(900)).await.unwrap();
    assert!(matches!(status, OrchestrationStatus::Completed { .. }), "{status:?}");
}

async fn run(client: &Client, name: &str, id: &str, input: u64) {
    client.start_orchestration(id, name, input.to_string()).await.unwrap();
    ended(client, id).await;
}

impl System for Duroxide {
    const NAME: &'static str = "duroxide";
    // Ten thousand take a quarter of an hour: its cost of a step grows with the history.
    const MOST_STEPS: u64 = 500;

    async fn workflows(folder: &Path, in_flight: usize, time: Duration) -> f64 {
        let engine = engine(folder).await;
        let client = engine.client.clone();
        let rate = rate(in_flight, time, move |number| {
            let client = client.clone();
            async move { run(&client, "sequence", &format!("s-{number}"), 10).await }
        })
        .await;
        engine.runtime.shutdown(None).await;
        rate
    }

    async fn long(folder: &Path, steps: u64) -> f64 {
        let engine = engine(folder).await;
        let began = Instant::now();
        run(&engine.client, "sequence", "long", steps).await;
        let took = began.elapsed().as_secs_f64();
        engine.runtime.shutdown(None).await;
        took
    }

    async fn fan_out(folder: &Path, width: u64) -> f64 {
        let engine = engine(folder).await;
        let client = &engine.client;
        let took = milliseconds(5, |number| async move {
            run(client, "wide", &format!("f-{number}"), width).await;
        })
        .await;
        engine.runtime.shutdown(None).await;
        took
    }

    async fn replay(folder: &Path, steps: u64) -> f64 {
        let parked = engine(folder).await;
        let client = &parked.client;
        client.start_orchestration("long", "sequence_and_gate", steps.to_string()).await.unwrap();
        // Its client has no way to ask how far it is; the last activity's result is in the history then.
        while client.read_execution_history("long", 1).await.unwrap().len() < 2 * steps as usize + 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        parked.runtime.shutdown(None).await;
        let began = Instant::now();
        let engine = engine(folder).await;
        engine.client.raise_event("long", "gate", "").await.unwrap();
        ended(&engine.client, "long").await;
        let took = began.elapsed().as_secs_f64() * 1e3;
        engine.runtime.shutdown(None).await;
        took
    }
}
