//! Timers through the whole runtime (S7, O18).
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use perennial::history::{Decision, Observation};
use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, RunHandle, Runtime};
use support::clock::{START, Set};
use support::waiting::soon;
use support::{Place, each_place, each_store};

/// In seconds: a setting that is another one after a restart.
static PAUSE: AtomicU64 = AtomicU64::new(60);

#[workflow]
async fn paused(cx: &Cx) -> Result<Timestamp, Error> {
    #[allow_nondeterminism(
        statics,
        reason = "a length that comes out different each time the code runs"
    )]
    let pause = PAUSE.load(Ordering::SeqCst);
    cx.sleep(seconds(pause)).await?;
    Ok(cx.now())
}

#[workflow]
async fn at_once(cx: &Cx) -> Result<(), Error> {
    cx.sleep(Duration::ZERO).await?;
    Ok(cx.sleep_until(Timestamp::from_millis(1)).await?)
}

#[workflow]
async fn three(cx: &Cx) -> Result<Vec<u64>, Error> {
    let mut set = JoinSet::new(cx);
    for (n, length) in [(3, perennial::MAX_SLEEP), (1, hours(1)), (2, hours(2))] {
        let sleep = cx.sleep(length);
        set.submit(async move { sleep.await.map(|()| n) });
    }
    let mut order = Vec::new();
    while let Some(n) = set.next().await {
        order.push(n?);
    }
    Ok(order)
}

/// How often a timer was early, and all that it has seen of the time.
#[workflow]
async fn naps(cx: &Cx, times: u64) -> Result<(u64, Vec<Timestamp>), Error> {
    let (mut early, mut seen) = (0, vec![cx.now()]);
    for _ in 0..times {
        let until = cx.now() + millis(1 + cx.random::<u64>() % 50);
        cx.sleep_until(until).await?;
        early += u64::from(cx.now() < until);
        seen.push(cx.now());
    }
    Ok((early, seen))
}

fn program(store: Arc<dyn Store>) -> Builder {
    Runtime::builder(store)
        .workflow(paused)
        .workflow(at_once)
        .workflow(three)
        .workflow(naps)
        .artifact("test")
}

fn at(milliseconds: u64) -> Timestamp {
    Timestamp::from_millis(START + milliseconds)
}

/// How many timers a history has begun, and how many have fired.
async fn timers<W: perennial::Workflow>(run: &RunHandle<W>) -> (usize, usize) {
    let units = run.history().await.unwrap().history.units;
    let decisions = units.iter().flat_map(|unit| &unit.decisions);
    let begun = decisions.filter(|decision| matches!(decision, Decision::TimerStarted { .. }));
    let fired = units
        .iter()
        .filter(|unit| matches!(unit.observation, Observation::TimerFired { .. }));
    (begun.count(), fired.count())
}

#[tokio::test]
async fn o18_rw10_a_recorded_deadline_holds_whatever_length_the_code_computes_now() {
    each_place(async |place: Place| {
        let clock = Set::new();
        PAUSE.store(60, Ordering::SeqCst);
        let runtime = program(place.open()).clock(clock.clone());
        let runtime = runtime.start().await.unwrap();
        runtime.client().start(paused, "rw10", ()).await.unwrap();
        let _ = runtime.drain(Duration::from_secs(10)).await;

        PAUSE.store(90, Ordering::SeqCst);
        clock.at_millis(59_950);
        let runtime = program(place.open()).clock(clock.clone());
        let runtime = runtime.start().await.unwrap();
        let run = runtime.client().run(paused, "rw10").unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), at(60_000));
        assert_eq!(timers(&run).await, (1, 1));
    })
    .await;
}

#[tokio::test]
async fn o18_rw10_4_a_length_of_zero_and_a_time_that_has_passed_are_over_at_once_and_recorded() {
    each_store(async |store| {
        let runtime = program(store).clock(Set::new()).start().await.unwrap();
        let run = runtime.client().start(at_once, "zero", ()).await.unwrap();
        soon(run.result()).await.unwrap();
        assert_eq!(timers(&run).await, (2, 2));
    })
    .await;
}

#[tokio::test]
async fn o18_a_clock_that_leaps_a_century_ahead_and_back_fires_each_timer_once_in_their_order() {
    each_place(async |place: Place| {
        let clock = Set::new();
        let runtime = program(place.open()).clock(clock.clone());
        let runtime = runtime.start().await.unwrap();
        runtime.client().start(three, "leap", ()).await.unwrap();
        drop(runtime);

        // Back, where nothing is due; then ahead, where all of them are.
        for (hours, due) in [(0, 0), (101 * 366 * 24, 3)] {
            clock.at(hours * 3_600);
            let runtime = program(place.open()).clock(clock.clone());
            let runtime = runtime.start().await.unwrap();
            let run = runtime.client().run(three, "leap").unwrap();
            if due > 0 {
                assert_eq!(soon(run.result()).await.unwrap(), [1, 2, 3]);
            }
            assert_eq!(timers(&run).await, (3, due));
        }
    })
    .await;
}

/// On the real clock.
#[tokio::test]
async fn rw29_no_timer_is_early_and_time_never_goes_back() {
    const RUNS: u64 = 200;
    const TIMES: u64 = 50;
    each_store(async |store| {
        let runtime = program(store).start().await.unwrap();
        let mut runs = Vec::new();
        for n in 0..RUNS {
            let run = runtime.client().start(naps, format!("rw29-{n}"), TIMES);
            runs.push(run.await.unwrap());
        }
        for run in runs {
            let (early, seen) = soon(run.result()).await.unwrap();
            assert_eq!(early, 0, "{seen:?}");
            assert!(seen.is_sorted(), "{seen:?}");
        }
    })
    .await;
}

/// Each step of a run that keeps no machine is a replay of all before it.
#[tokio::test]
async fn rw29_3_a_cold_replay_sees_the_times_that_were_recorded() {
    each_store(async |store| {
        let runtime = program(store).warm_memory(0).start().await.unwrap();
        let run = runtime.client().start(naps, "cold", 20).await.unwrap();
        let (_, seen) = soon(run.result()).await.unwrap();
        let units = run.history().await.unwrap().history.units;
        let recorded: Vec<Timestamp> = units.iter().map(|unit| unit.at).collect();
        assert_eq!(seen, recorded);
    })
    .await;
}
