//! The program whose runs can be changed, and what the tests see of it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use perennial::history::{Observation, Unit};
use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, Client, Runtime, UpdateError};

pub(crate) use crate::support::waiting::{Gate as World, soon, until};

/// A limit from now on; the answer is the one before.
pub(crate) const SET_LIMIT: Update<u64, u64, String> = Update::new("set-limit");
/// The same of whoever takes it for something else.
pub(crate) const OTHER: Update<Vec<String>, u64, String> = Update::new("set-limit");
/// What nobody handles.
pub(crate) const LIMITS: Update<u64, u64, String> = Update::new("limits");
/// A word; the answer is how many there are.
pub(crate) const ADD: Update<String, u64, String> = Update::new("add");
pub(crate) const GO: Message<u64> = Message::new("go");
pub(crate) const BELL: Signal<u64> = Signal::new("bell");

#[activity(idempotent)]
async fn gated(acx: &ActivityCx) -> Result<(), Failure> {
    acx.state::<Arc<World>>().pass().await;
    Ok(())
}

fn not_below_ten(new: &u64) -> Result<(), String> {
    match new {
        ..10 => Err(format!("{new} is less than 10")),
        _ => Ok(()),
    }
}

/// Has a limit that can be changed, and ends when it is 500.
#[workflow]
pub(crate) async fn budget(cx: &Cx, limit: u64) -> Result<u64, Error> {
    let limit = Rc::new(Cell::new(limit));
    let set = Rc::clone(&limit);
    cx.handle(SET_LIMIT, not_below_ten, move |new| set.replace(new));
    cx.until(|| limit.get() >= 500).await;
    Ok(limit.get())
}

/// Can be changed once it is told to go, and does something meanwhile.
#[workflow]
pub(crate) async fn late(cx: &Cx) -> Result<u64, Error> {
    let limit = Rc::new(Cell::new(cx.receive(GO).await?));
    let set = Rc::clone(&limit);
    cx.handle(SET_LIMIT, not_below_ten, move |new| set.replace(new));
    gated(cx).await?;
    Ok(limit.get())
}

/// Cannot be changed.
#[workflow]
pub(crate) async fn plain(cx: &Cx) -> Result<u64, Error> {
    Ok(cx.receive(GO).await?)
}

/// Falls over what it does not know, or when it is told to.
#[workflow]
pub(crate) async fn frail(cx: &Cx) -> Result<u64, Error> {
    let limit = Rc::new(Cell::new(0_u64));
    let set = Rc::clone(&limit);
    cx.handle(
        SET_LIMIT,
        |new| {
            assert!(*new != 13, "thirteen");
            Ok(())
        },
        move |new| {
            assert!(new != 17, "seventeen");
            set.replace(new)
        },
    );
    cx.until(|| limit.get() >= 500).await;
    Ok(limit.get())
}

/// Gathers words, and does something with each; then hears what it is sent.
#[workflow]
pub(crate) async fn words(cx: &Cx, count: usize) -> Result<(Vec<String>, u64), Error> {
    let words = Rc::new(RefCell::new(Vec::new()));
    let all = Rc::clone(&words);
    cx.handle(
        ADD,
        |_| Ok(()),
        move |word| {
            let mut all = all.borrow_mut();
            all.push(word);
            all.len() as u64
        },
    );
    for done in 0..count {
        cx.until(|| words.borrow().len() > done).await;
        gated(cx).await?;
    }
    let sent = select! {
        sent = cx.receive(GO) => sent?,
        sent = cx.wait_for(BELL) => 1_000 + sent?,
    };
    let words = words.borrow().clone();
    Ok((words, sent))
}

pub(crate) fn builder(store: Arc<dyn Store>, world: &Arc<World>) -> Builder {
    Runtime::builder(store)
        .workflow(budget)
        .workflow(late)
        .workflow(plain)
        .workflow(frail)
        .workflow(words)
        .activities((gated,))
        .state(Arc::clone(world))
        .artifact("test")
        .shards(1)
}

pub(crate) async fn runtime(store: Arc<dyn Store>) -> Runtime {
    builder(store, &World::new()).start().await.unwrap()
}

/// A program that keeps nothing in memory that waits.
pub(crate) async fn cold(store: Arc<dyn Store>) -> Runtime {
    let builder = builder(store, &World::new()).warm_memory(0);
    builder.start().await.unwrap()
}

/// Sets the limit of a run.
pub(crate) async fn set(client: &Client, id: &str, limit: u64) -> Result<u64, UpdateError<String>> {
    let run = id.parse().unwrap();
    soon(client.update(&run, SET_LIMIT, &limit).into_future()).await
}

pub(crate) async fn units(client: &Client, id: &str) -> Vec<Unit> {
    let history = client.history(&id.parse().unwrap()).await.unwrap();
    history.history.units
}

/// What a run was told, in order, in words.
pub(crate) async fn told(client: &Client, id: &str) -> Vec<String> {
    let units = units(client, id).await.into_iter();
    let told = units.filter_map(|unit| match unit.observation {
        Observation::UpdateAccepted { name, input, .. } => {
            Some(format!("{name} {}", input.as_json()))
        }
        Observation::MessageArrived(told) => Some(format!("message {}", told.payload.as_json())),
        Observation::SignalArrived(told) => Some(format!("signal {}", told.payload.as_json())),
        _ => None,
    });
    told.collect()
}
