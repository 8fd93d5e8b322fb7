//! The engine over the stores, from a client's point of view.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perennial::prelude::*;
use perennial_runtime::store::{MemoryStore, Status, Store};
use perennial_runtime::{ReadError, Reuse, RunError, RunState, Runtime, StartError};
use support::each_store;

#[derive(Default)]
struct Calls {
    add: AtomicU32,
    flaky: AtomicU32,
}

#[activity(pure)]
async fn add(acx: &ActivityCx, a: u64, b: u64) -> Result<u64, Failure> {
    acx.state::<Arc<Calls>>().add.fetch_add(1, Ordering::SeqCst);
    Ok(a + b)
}

#[activity(idempotent, retry(initial = "1ms", attempts = 5))]
async fn flaky(acx: &ActivityCx, fails: u32) -> Result<u32, Failure> {
    acx.state::<Arc<Calls>>()
        .flaky
        .fetch_add(1, Ordering::SeqCst);
    if acx.attempt() <= fails {
        return Err(Failure::transient(format_args!(
            "not yet ({})",
            acx.attempt()
        )));
    }
    Ok(acx.attempt())
}

#[activity(pure)]
async fn refuses(_acx: &ActivityCx, why: String) -> Result<(), Failure<String>> {
    Err(Failure::reject(why))
}

#[activity(pure, retry(attempts = 2, initial = "1ms"))]
async fn panics(_acx: &ActivityCx) -> Result<(), Failure> {
    panic!("out of paper")
}

#[activity(pure, attempt = "5ms", retry(attempts = 2, initial = "1ms"))]
async fn never_ends(_acx: &ActivityCx) -> Result<(), Failure> {
    std::future::pending().await
}

#[activity(pure, blocking)]
fn blocks(acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    let _ = acx;
    Ok((1..=n).sum())
}

#[workflow]
async fn sums(cx: &Cx, upto: u64) -> Result<u64, Error> {
    let mut sum = 0;
    for n in 1..=upto {
        sum = add(cx, sum, n).await?;
    }
    cx.log(format_args!("the sum is {sum}"));
    Ok(sum)
}

#[workflow]
async fn naps(cx: &Cx, milliseconds: u64) -> Result<u64, Error> {
    let before = cx.now();
    cx.sleep(millis(milliseconds)).await?;
    Ok(u64::try_from(cx.now().since(before).as_millis()).unwrap_or(u64::MAX))
}

#[workflow]
async fn tries(cx: &Cx, fails: u32) -> Result<u32, Error> {
    Ok(flaky(cx, fails).await?)
}

#[workflow]
async fn ends(cx: &Cx) -> Result<Vec<String>, Error> {
    Ok(vec![
        format!("{:?}", refuses(cx, "no".into()).await),
        format!("{:?}", panics(cx).await),
        format!("{:?}", never_ends(cx).await),
        format!("{:?}", blocks(cx, 10).await),
        format!("{:?}", flaky(cx, 9).retry(Retry::never()).await),
    ])
}

#[workflow]
async fn fans_out(cx: &Cx, width: u64) -> Result<u64, Error> {
    let parts = join_all((0..width).map(|n| add(cx, n, 1))).await;
    parts.into_iter().try_fold(0, |sum, part| Ok(sum + part?))
}

#[workflow]
async fn gives_up(cx: &Cx, why: String) -> Result<(), Error> {
    let _ = cx;
    Err(Error::new(why))
}

async fn runtime(store: Arc<dyn Store>, calls: &Arc<Calls>) -> Runtime {
    Runtime::builder(store)
        .workflow(sums)
        .workflow(naps)
        .workflow(tries)
        .workflow(ends)
        .workflow(fans_out)
        .workflow(gives_up)
        .activities((add, flaky, refuses, panics, never_ends, blocks))
        .state(Arc::clone(calls))
        .artifact("test")
        .start()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_run_goes_from_start_to_result() {
    each_store(async |store| {
        let calls = Arc::new(Calls::default());
        let runtime = runtime(store, &calls).await;
        let run = runtime.client().start(sums, "sum-1", 10).await.unwrap();
        assert_eq!(run.result().await.unwrap(), 55);
        assert_eq!(run.result().await.unwrap(), 55, "also after the end");
        assert_eq!(calls.add.load(Ordering::SeqCst), 10);
        let history = run.history().await.unwrap();
        insta::assert_snapshot!("a_run_goes_from_start_to_result", history.history.text());
        let status = run.status().await.unwrap();
        assert_eq!(
            (status.state, status.generation, status.events),
            (RunState::Completed, 1, 22)
        );
    })
    .await;
}

#[tokio::test]
async fn a_start_is_answered_with_the_run_that_there_is() {
    each_store(async |store| {
        let calls = Arc::new(Calls::default());
        let runtime = runtime(store, &calls).await;
        let client = runtime.client();
        let run = client.start(sums, "twice", 2).await.unwrap();
        let same = client.start(sums, "twice", 2).await.unwrap();
        assert_eq!(
            (run.result().await.unwrap(), same.result().await.unwrap()),
            (3, 3)
        );
        let again = client.start(sums, "twice", 2).await.unwrap();
        assert_eq!(again.result().await.unwrap(), 3);
        assert_eq!(calls.add.load(Ordering::SeqCst), 2, "one run did the work");
        let other = client.start(sums, "twice", 3).await.unwrap_err();
        assert!(matches!(other, StartError::Conflict { .. }));
        insta::assert_snapshot!("conflicting_input", other);
        let other = client.start(naps, "twice", 2).await.unwrap_err();
        insta::assert_snapshot!("conflicting_workflow", other);
    })
    .await;
}

#[tokio::test]
async fn a_finished_run_can_begin_anew() {
    each_store(async |store| {
        let calls = Arc::new(Calls::default());
        let runtime = runtime(store, &calls).await;
        let client = runtime.client();
        assert_eq!(
            client
                .start(sums, "again", 2)
                .await
                .unwrap()
                .result()
                .await
                .unwrap(),
            3
        );
        let run = client
            .start(sums, "again", 3)
            .reuse(Reuse::AfterFinish)
            .await
            .unwrap();
        assert_eq!(run.result().await.unwrap(), 6);
        assert_eq!(run.status().await.unwrap().generation, 2);
        let history = run.history().await.unwrap().history;
        assert!(
            format!("{:?}", history.units[0]).contains("first_operation: 3"),
            "operations are counted on"
        );
    })
    .await;
}

#[tokio::test]
async fn many_starts_of_one_id_make_one_run() {
    each_store(async |store| {
        let calls = Arc::new(Calls::default());
        let runtime = runtime(store, &calls).await;
        let client = runtime.client();
        let mut starts = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let client = client.clone();
            starts.spawn(async move {
                client
                    .start(sums, "one", 4)
                    .await
                    .unwrap()
                    .result()
                    .await
                    .unwrap()
            });
        }
        assert!(starts.join_all().await.into_iter().all(|sum| sum == 10));
        assert_eq!(calls.add.load(Ordering::SeqCst), 4);
    })
    .await;
}

#[tokio::test]
async fn s07_a_sleep_is_never_early() {
    each_store(async |store| {
        let runtime = runtime(store, &Arc::default()).await;
        let client = runtime.client();
        for (id, length) in [("none", 0), ("short", 1), ("long", 30)] {
            let slept = client
                .start(naps, id, length)
                .await
                .unwrap()
                .result()
                .await
                .unwrap();
            assert!(slept >= length, "{slept} ms of {length}");
        }
    })
    .await;
}

#[tokio::test]
async fn o08_the_budget_of_attempts_is_exact() {
    each_store(async |store| {
        let calls = Arc::new(Calls::default());
        let runtime = runtime(store, &calls).await;
        let client = runtime.client();
        assert_eq!(
            client
                .start(tries, "in-time", 4)
                .await
                .unwrap()
                .result()
                .await
                .unwrap(),
            5
        );
        let run = client.start(tries, "too-often", 9).await.unwrap();
        assert!(matches!(run.result().await, Err(RunError::Failed(_))));
        assert_eq!(calls.flaky.load(Ordering::SeqCst), 10);
        let history = run.history().await.unwrap();
        let attempts: Vec<u32> = history
            .attempts
            .iter()
            .map(|record| record.attempt)
            .collect();
        assert_eq!(attempts, [1, 2, 3, 4, 5]);
        insta::assert_snapshot!(
            "o08_the_budget_of_attempts_is_exact",
            history.history.text()
        );
    })
    .await;
}

#[tokio::test]
async fn s19_each_end_of_an_activity_reaches_the_workflow() {
    each_store(async |store| {
        let runtime = runtime(store, &Arc::default()).await;
        let run = runtime.client().start(ends, "ends", ()).await.unwrap();
        insta::assert_snapshot!("s19_each_end", run.result().await.unwrap().join("\n"));
    })
    .await;
}

#[tokio::test]
async fn a_fan_out_waits_in_line_for_slots() {
    each_store(async |store| {
        let calls = Arc::new(Calls::default());
        let runtime = runtime(store, &calls).await;
        let run = runtime.client().start(fans_out, "wide", 250).await.unwrap();
        assert_eq!(run.result().await.unwrap(), 250 * 251 / 2);
        assert_eq!(calls.add.load(Ordering::SeqCst), 250);
    })
    .await;
}

#[tokio::test]
async fn a_failed_run_gives_its_error() {
    each_store(async |store| {
        let runtime = runtime(store, &Arc::default()).await;
        let run = runtime
            .client()
            .start(gives_up, "fails", "enough".to_owned())
            .await
            .unwrap();
        let Err(RunError::Failed(error)) = run.result().await else {
            panic!("it failed")
        };
        assert_eq!(error.to_string(), "enough");
        assert_eq!(run.status().await.unwrap().state, RunState::Failed);
    })
    .await;
}

#[tokio::test]
async fn runs_are_listed_page_by_page() {
    each_store(async |store| {
        let runtime = runtime(store, &Arc::default()).await;
        let client = runtime.client();
        for n in 0..5 {
            client
                .start(sums, format!("list-{n}"), 1)
                .await
                .unwrap()
                .result()
                .await
                .unwrap();
        }
        client.start(naps, "sleeper", 3_600_000).await.unwrap();
        let page = client
            .list()
            .workflow("sums")
            .limit(2)
            .page()
            .await
            .unwrap();
        let mut seen: Vec<String> = page.runs.iter().map(|run| run.run.to_string()).collect();
        let mut next = page.next;
        while let Some(cursor) = next {
            let page = client
                .list()
                .workflow("sums")
                .limit(2)
                .after(cursor)
                .page()
                .await
                .unwrap();
            seen.extend(page.runs.iter().map(|run| run.run.to_string()));
            next = page.next;
        }
        assert_eq!(seen, ["list-0", "list-1", "list-2", "list-3", "list-4"]);
        let running = client.list().status(Status::Running).page().await.unwrap();
        assert_eq!(running.runs.len(), 1);
        assert_eq!(
            client
                .list()
                .prefix("list-4")
                .page()
                .await
                .unwrap()
                .runs
                .len(),
            1
        );
        let error = client.list().after("no cursor!").page().await.unwrap_err();
        insta::assert_snapshot!("invalid_cursor", error);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let runtime = runtime(Arc::new(MemoryStore::new()), &Arc::default()).await;
    let client = runtime.client();
    let value = |text: &str| perennial::value::Value::from_json(text).unwrap();
    let named = async |name: &str, input: &str| {
        client
            .start_named(name, "x".parse().unwrap(), value(input))
            .await
            .unwrap_err()
            .to_string()
    };
    let texts = [
        client.start(sums, "a b", 1).await.unwrap_err().to_string(),
        client
            .start(gives_up, "large", "x".repeat(2 << 20))
            .await
            .unwrap_err()
            .to_string(),
        named("summs", "1").await,
        named("nothing_like_it", "1").await,
        named("sums", r#""many""#).await,
    ];
    insta::assert_snapshot!(texts.join("\n---\n"));
    assert!(matches!(
        client.status(&"x".parse().unwrap()).await,
        Err(ReadError::NotFound { .. })
    ));
    assert!(matches!(
        client.run(sums, "x").unwrap().result().await,
        Err(RunError::NotFound { .. })
    ));
}
