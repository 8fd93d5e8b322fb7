//! *Running it*.

use std::path::Path;
use std::time::Duration;

use perennial::prelude::*;
use perennial::value::Value;
use perennial_runtime::store::{Durability, Status};
use perennial_runtime::{
    Client, PurgeError, Reuse, RunError, RunHandle, RunState, Runtime, StartError, StartupError,
    generate_run_id,
};

#[activity(pure)]
pub async fn greet(acx: &ActivityCx, name: String) -> Result<String, Failure> {
    Ok(format!("{}, {name}!", acx.state::<Greeting>().0))
}

#[derive(Debug)]
pub struct Greeting(pub &'static str);

#[workflow]
pub async fn welcome(cx: &Cx, name: String) -> Result<String, Error> {
    Ok(greet(cx, name).await?)
}

#[workflow]
pub async fn give_up(cx: &Cx) -> Result<(), Error> {
    let _ = cx;
    Err(Error::new("enough"))
}

type Done = Result<(), Box<dyn std::error::Error>>;

// ANCHOR: builder
pub async fn start(folder: &Path) -> Result<Runtime, StartupError> {
    Runtime::builder(folder)
        .durability(Durability::Os)
        .workflow(welcome)
        .workflow(give_up)
        .activity(greet)
        .state(Greeting("Hello"))
        .max_activities(20)
        .start()
        .await
}
// ANCHOR_END: builder

// ANCHOR: start
pub async fn start_runs(client: &Client) -> Done {
    let run = client
        .start(welcome, "welcome-ada", "Ada".to_owned())
        .await?;
    assert_eq!(run.result().await?, "Hello, Ada!");

    // Again with the same id and the same input: the same run, although it has ended.
    let same = client
        .start(welcome, "welcome-ada", "Ada".to_owned())
        .await?;
    assert_eq!(same.result().await?, "Hello, Ada!");

    // The same id with another input: refused, and nothing is changed.
    let other = client.start(welcome, "welcome-ada", "Eve".to_owned()).await;
    assert!(matches!(other, Err(StartError::Conflict { .. })));

    // Once the run has ended, its id can begin anew, as the next generation.
    let anew = client
        .start(welcome, "welcome-ada", "Eve".to_owned())
        .reuse(Reuse::AfterFinish)
        .await?;
    assert_eq!(anew.result().await?, "Hello, Eve!");
    assert_eq!(anew.status().await?.generation, 2);

    // Where nobody needs to find the run by name.
    client
        .start(welcome, generate_run_id(), "Grace".to_owned())
        .await?;
    Ok(())
}
// ANCHOR_END: start

// ANCHOR: result
pub async fn explain(run: &RunHandle<give_up>) -> String {
    match run.result().await {
        Ok(()) => "done".to_owned(),
        Err(RunError::Failed(error)) => format!("the workflow returned an error: {error}"),
        Err(RunError::Blocked { code, .. }) => format!("blocked ({code}), but not lost"),
        Err(other) => format!("no answer: {other}"),
    }
}
// ANCHOR_END: result

// ANCHOR: ask
pub async fn ask(client: &Client) -> Done {
    let run = client.run(welcome, "welcome-ada")?; // a handle; nothing is started
    let info = run.status().await?;
    assert_eq!((info.state, info.events), (RunState::Completed, 4));
    println!("{}", run.history().await?.history.text());

    let finished = client
        .list()
        .workflow("welcome")
        .status(Status::Completed)
        .limit(50);
    let mut page = finished.page().await?;
    loop {
        for info in &page.runs {
            println!("{} since {}", info.run, info.created);
        }
        let Some(next) = page.next else { break };
        page = finished.clone().after(next).page().await?;
    }

    let blocked = client.list().blocked(true).page().await?;
    assert!(blocked.runs.is_empty());
    Ok(())
}
// ANCHOR_END: ask

// ANCHOR: purge
/// What has ended is kept for a quarter of a year.
pub async fn start_and_tidy_up(folder: &Path) -> Result<Runtime, StartupError> {
    Runtime::builder(folder)
        .retention(days(90))
        .workflow(welcome)
        .activity(greet)
        .state(Greeting("Hello"))
        .start()
        .await
}

/// Nobody needs this one any more.
pub async fn forget(client: &Client, run: &RunHandle<welcome>) -> Result<(), PurgeError> {
    client.purge(run.id()).await
}
// ANCHOR_END: purge

// ANCHOR: named
pub async fn start_by_name(client: &Client) -> Done {
    let input = Value::from_json(r#""Barbara""#)?;
    let run = client
        .start_named("welcome", "welcome-barbara".parse()?, input)
        .await?;
    println!("{run} was started");
    Ok(())
}
// ANCHOR_END: named

// ANCHOR: drain
pub async fn serve(runtime: Runtime, stop: impl Future<Output = ()>) {
    stop.await; // such as `tokio::signal::ctrl_c()`
    let drained = runtime.drain(Duration::from_secs(30)).await;
    println!(
        "{} attempts will run again in the next process",
        drained.unfinished
    );
}
// ANCHOR_END: drain
