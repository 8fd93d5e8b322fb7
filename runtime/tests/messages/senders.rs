//! Workflows that tell other runs something.

use std::sync::Arc;

use perennial::RunKey;
use perennial::history::{Decision, History, Observation, SlotResult};
use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, Client, RunHandle, Runtime};

use crate::world::*;

/// What became of a send, for a workflow's result.
pub(crate) type Told = Result<u64, SendFailure>;

/// Of a name that no run here waits for under it.
pub(crate) const STRANGE: Message<u64> = Message::new("strange");

/// Tells a run so much, one after the other, and waits for the test in between.
#[workflow]
pub(crate) async fn tells(cx: &Cx, to: RunId, count: u64) -> Result<Vec<Told>, Error> {
    let mut all = Vec::new();
    for n in 0..count {
        let sent = cx.send(&to, A, &n).await;
        all.push(sent.map(|receipt| receipt.number));
    }
    held(cx).await?;
    Ok(all)
}

/// The same after it has waited for the test.
#[workflow]
pub(crate) async fn tells_later(cx: &Cx, to: RunId, count: u64) -> Result<Vec<Told>, Error> {
    held(cx).await?;
    let mut all = Vec::new();
    for n in 0..count {
        let sent = cx.send(&to, A, &n).await;
        all.push(sent.map(|receipt| receipt.number));
    }
    Ok(all)
}

/// Waits for the test.
#[durable]
async fn held(cx: &Cx) -> Result<(), Error> {
    cx.wait_for(BELL).await?;
    Ok(())
}

/// Tells several runs something at once.
#[workflow]
pub(crate) async fn tells_all(cx: &Cx, runs: Vec<RunId>) -> Result<Vec<Told>, Error> {
    let sends = (0..).zip(&runs).map(|(n, to)| cx.send(to, A, &n));
    let sent = join_all(sends).await.into_iter();
    Ok(sent
        .map(|sent| sent.map(|receipt| receipt.number))
        .collect())
}

/// Tells itself something, and takes it.
#[workflow]
pub(crate) async fn tells_itself(cx: &Cx) -> Result<(u64, u64, u64), Error> {
    let own = cx.run_id();
    let first = cx.send(&own, A, &5).await?;
    let second = cx.send(&own, A, &6).await?;
    assert!(first.number < second.number);
    let taken = (cx.receive(A).await?, cx.receive(A).await?);
    Ok((taken.0, taken.1, second.number - first.number))
}

/// Sends something on its way out, for which it does not wait.
#[workflow]
pub(crate) async fn tells_last(cx: &Cx, to: RunId) -> Result<(), Error> {
    let sending = cx.clone();
    let _left = cx.spawn(async move { sending.send(&to, A, &5).await.is_ok() });
    cx.spawn(async {}).await;
    Ok(())
}

/// Gives up what it sends before it knows what came of it.
#[workflow]
pub(crate) async fn gives_up(cx: &Cx, to: RunId) -> Result<bool, Error> {
    Ok(select! {
        sent = cx.send(&to, A, &5) => sent.is_ok(),
        _ = async {} => false,
    })
}

/// Tells a run something that it may not wait for.
#[workflow]
pub(crate) async fn tells_b(cx: &Cx, to: RunId) -> Result<Told, Error> {
    Ok(cx.send(&to, B, &5).await.map(|receipt| receipt.number))
}

/// Tells a run something once an activity has ended.
#[workflow]
pub(crate) async fn tells_after(cx: &Cx, to: RunId) -> Result<Told, Error> {
    gated(cx).await?;
    Ok(cx.send(&to, A, &7).await.map(|receipt| receipt.number))
}

/// Rings a bell of another run.
#[workflow]
pub(crate) async fn rings(cx: &Cx, to: RunId) -> Result<Result<(), SendFailure>, Error> {
    Ok(cx.signal(&to, BELL, &5).await)
}

/// Sends what the other one does not know, and what is too large.
#[workflow]
pub(crate) async fn strange(cx: &Cx, to: RunId) -> Result<(Told, Told), Error> {
    let first = cx.send(&to, STRANGE, &5).await.map(|sent| sent.number);
    let large = "x".repeat(2 << 20);
    let second = cx.send(&to, TEXTS, &large).await.map(|sent| sent.number);
    Ok((first, second))
}

/// Waits for `a` and nothing else, in its own body: all that it waits for is known.
#[workflow]
pub(crate) async fn waits_for_a(cx: &Cx) -> Result<u64, ReceiveError> {
    cx.receive(A).await
}

/// Takes a message, and says what it was and who had sent it.
#[workflow]
pub(crate) async fn answers(cx: &Cx, rounds: u64) -> Result<u64, Error> {
    let mut sum = 0;
    for _ in 0..rounds {
        let (from, n) = cx.receive(ASK).await?;
        sum += n;
        cx.send(&from, B, &sum).await?;
    }
    Ok(sum)
}

pub(crate) const ASK: Message<(RunId, u64)> = Message::new("ask");

/// Asks another run, and waits for each answer.
#[workflow]
pub(crate) async fn asks(cx: &Cx, whom: RunId, rounds: u64) -> Result<Vec<u64>, Error> {
    let mut all = Vec::new();
    for n in 1..=rounds {
        cx.send(&whom, ASK, &(cx.run_id(), n)).await?;
        all.push(cx.receive(B).await?);
    }
    Ok(all)
}

pub(crate) fn with_senders(store: Arc<dyn Store>, world: &Arc<World>) -> Builder {
    builder(store, world)
        .workflow(tells)
        .workflow(tells_later)
        .workflow(tells_all)
        .workflow(tells_itself)
        .workflow(tells_last)
        .workflow(gives_up)
        .workflow(tells_after)
        .workflow(tells_b)
        .workflow(rings)
        .workflow(strange)
        .workflow(waits_for_a)
        .workflow(answers)
        .workflow(asks)
}

pub(crate) async fn senders(store: Arc<dyn Store>, world: &Arc<World>) -> Runtime {
    with_senders(store, world).start().await.unwrap()
}

pub(crate) fn id(name: &str) -> RunId {
    RunId::new(name).unwrap()
}

/// Lets a sender that waits for the test go on.
pub(crate) async fn ring(client: &Client, run: &str) {
    client.signal(&id(run), BELL, &1).await.unwrap();
}

pub(crate) async fn history<W: perennial::Workflow>(run: &RunHandle<W>) -> History {
    run.history().await.unwrap().history
}

/// What a history has of what the run has sent: the operation that sends, and what follows the unit that decided it.
pub(crate) fn sends(history: &History) -> Vec<(u64, Option<SlotResult>)> {
    let mut all = Vec::new();
    for (at, unit) in history.units.iter().enumerate() {
        let mut sends = unit.decisions.iter().filter_map(|decision| match decision {
            Decision::SendRequested { operation, .. } => Some(*operation),
            _ => None,
        });
        // Their results come next, in their order.
        for (place, operation) in sends.by_ref().enumerate() {
            let next = history.units.get(at + 1 + place);
            let result = next.map(|unit| match &unit.observation {
                Observation::SlotFilled {
                    operation: filled,
                    result,
                } if *filled == operation => result.clone(),
                other => panic!("~{operation} is followed by {other:?}"),
            });
            all.push((operation, result));
        }
    }
    all
}

/// The numbers of the messages that a run has.
pub(crate) fn arrivals(store: &dyn Store, run: &RunKey) -> u64 {
    store.head(run).unwrap().map_or(0, |head| head.arrivals)
}
