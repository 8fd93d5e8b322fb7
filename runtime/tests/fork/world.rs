//! The program whose runs are forked.

use std::sync::{Arc, Mutex};

use perennial::RunKey;
use perennial::history::Unit;
use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, RunHandle, Runtime};

pub(crate) use crate::support::waiting::{Gate, soon, until};

pub(crate) const A: Message<u64> = Message::new("a");
pub(crate) const B: Message<u64> = Message::new("b");
pub(crate) const OUTPUT: Stream<u64> = Stream::new("output");
pub(crate) const TOTAL: View<u64> = View::new("total");

/// How the test steers the activities, and what was done.
pub(crate) struct World {
    pub(crate) gate: Arc<Gate>,
    /// For which run, under which key, what.
    pub(crate) done: Mutex<Vec<(String, String, u64)>>,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            gate: Gate::new(),
            done: Mutex::default(),
        })
    }

    /// The runs for which something was done, in that order.
    pub(crate) fn runs(&self) -> Vec<String> {
        let done = self.done.lock().unwrap();
        done.iter().map(|(run, ..)| run.clone()).collect()
    }
}

#[activity(idempotent)]
pub(crate) async fn charge(acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    let key = acx.idempotency_key();
    let done = (acx.run().id.to_string(), key.to_string(), cents);
    acx.state::<Arc<World>>().done.lock().unwrap().push(done);
    Ok(cents)
}

#[activity(idempotent, timeout = "1h")]
pub(crate) async fn pack(acx: &ActivityCx) -> Result<(), Failure> {
    let world = acx.state::<Arc<World>>();
    let done = (acx.run().id.to_string(), "pack".to_owned(), 0);
    world.done.lock().unwrap().push(done);
    world.gate.pass().await;
    Ok(())
}

#[stub]
pub(crate) async fn review(cx: &Cx, cents: u64) -> bool;

/// Charges what it is told, and adds it up, until it is told nothing.
#[workflow]
pub(crate) async fn adds(cx: &Cx) -> Result<u64, Error> {
    let mut sum = 0;
    loop {
        let cents = cx.receive(A).await?;
        if cents == 0 {
            return Ok(sum);
        }
        sum += charge(cx, cents).await?;
        cx.emit(OUTPUT, sum);
        cx.set(TOTAL, sum);
    }
}

/// Has one of each open at once: an activity, a timer, a stub and one with a time limit, a wait.
#[workflow]
pub(crate) async fn opens(cx: &Cx) -> Result<(bool, bool, u64), Error> {
    let (packed, slept, one, two, got) = join!(
        pack(cx),
        cx.sleep(hours(2)),
        review(cx, 1),
        review(cx, 2).timeout(hours(1)),
        cx.receive(A)
    );
    packed?;
    slept?;
    Ok((one?, two?.unwrap_or(false), got?))
}

/// Tells another run something, and then itself.
#[workflow]
pub(crate) async fn tells(cx: &Cx, other: String) -> Result<u64, Error> {
    let other = RunId::new(&other).map_err(|error| Error::new(error.to_string()))?;
    cx.send(&other, A, &7).await?;
    let own = cx.run_id();
    cx.send(&own, B, &9).await?;
    Ok(cx.receive(B).await?)
}

/// Offers a stub, and fulfils it itself.
#[workflow]
pub(crate) async fn answers(cx: &Cx) -> Result<bool, Error> {
    let offer = review(cx, 1).open()?;
    cx.fulfil(&offer.reference(), review, &true).await?;
    Ok(offer.await?)
}

/// Says by which id it knows itself, each time that it is told something.
#[workflow]
pub(crate) async fn ids(cx: &Cx) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    loop {
        all.push(cx.run_id().to_string());
        cx.emit(NAMES, cx.run_id().to_string());
        if cx.receive(A).await? == 0 {
            return Ok(all);
        }
    }
}

pub(crate) const NAMES: Stream<String> = Stream::new("names");

/// Waits for one name, is woken by it, and then waits for another.
#[workflow]
pub(crate) async fn later(cx: &Cx) -> Result<(u64, u64, u64), Error> {
    let first = cx.receive(A).await?;
    let second = cx.receive(A).await?;
    Ok((first, second, cx.receive(B).await?))
}

pub(crate) fn builder(store: Arc<dyn Store>, world: &Arc<World>) -> Builder {
    Runtime::builder(store)
        .workflow(adds)
        .workflow(opens)
        .workflow(tells)
        .workflow(answers)
        .workflow(ids)
        .workflow(later)
        .activities((charge, pack))
        .state(Arc::clone(world))
        .artifact("test")
        .shards(2)
}

pub(crate) async fn runtime(store: Arc<dyn Store>, world: &Arc<World>) -> Runtime {
    builder(store, world).start().await.unwrap()
}

pub(crate) fn key(id: &str) -> RunKey {
    id.parse().unwrap()
}

pub(crate) async fn units<W: perennial::Workflow>(run: &RunHandle<W>) -> Vec<Unit> {
    run.history().await.unwrap().history.units
}

/// Until the run has so many events.
pub(crate) async fn has_events<W: perennial::Workflow>(run: &RunHandle<W>, events: u64) {
    until(async || run.status().await.unwrap().events >= events).await;
}

/// A run that has charged so much, one after the other, and waits for more.
pub(crate) async fn charged(runtime: &Runtime, id: &str, cents: &[u64]) -> RunHandle<adds> {
    let run = runtime.client().start(adds, id, ()).await.unwrap();
    for (round, cents) in (1..).zip(cents) {
        run.send(A, cents).await.unwrap();
        // It arrives, is taken, is charged, has a result, goes out, and the next one is waited for.
        has_events(&run, 2 + 6 * round).await;
    }
    run
}
