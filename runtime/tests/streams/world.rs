//! The program that gives things out, and what the tests see of it.

use std::sync::Arc;

use perennial::RunKey;
use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, Items, RunHandle, Runtime};

pub(crate) use crate::support::waiting::soon;

pub(crate) const GO: Message<u64> = Message::new("go");
pub(crate) const OUTPUT: Stream<u64> = Stream::new("output");
pub(crate) const NOTES: Stream<String> = Stream::new("notes");

/// Gives out what it is sent, so many times, and a note about each even one.
#[workflow]
pub(crate) async fn echo(cx: &Cx, count: u64) -> Result<u64, Error> {
    for _ in 0..count {
        let number = cx.receive(GO).await?;
        cx.emit(OUTPUT, number);
        if number % 2 == 0 {
            cx.emit(NOTES, format!("{number} is even"));
        }
    }
    Ok(count)
}

/// Gives out so many numbers at once, and ends.
#[workflow]
pub(crate) async fn counts(cx: &Cx, to: u64) -> Result<(), Error> {
    for number in 1..=to {
        cx.emit(OUTPUT, number);
    }
    Ok(())
}

pub(crate) fn builder(store: Arc<dyn Store>) -> Builder {
    Runtime::builder(store)
        .workflow(echo)
        .workflow(counts)
        .artifact("test")
        .shards(1)
}

pub(crate) async fn runtime(store: Arc<dyn Store>) -> Runtime {
    builder(store).start().await.unwrap()
}

/// A program that keeps nothing in memory that waits.
pub(crate) async fn cold(store: Arc<dyn Store>) -> Runtime {
    builder(store).warm_memory(0).start().await.unwrap()
}

pub(crate) fn key(id: &str) -> RunKey {
    RunKey::new(perennial::Namespace::default(), id.parse().unwrap())
}

pub(crate) async fn go(run: &RunHandle<echo>, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        run.send(GO, &number).await.unwrap();
    }
}

/// The next item, which must come: its number and what it is.
pub(crate) async fn next<T: perennial::Data>(items: &mut Items<T>) -> (u64, T) {
    let item = soon(items.next()).await.expect("an item").unwrap();
    (item.number, item.value)
}

/// All that there is, or that comes until the run has ended.
pub(crate) async fn all<T: perennial::Data>(mut items: Items<T>) -> Vec<(u64, T)> {
    let mut all = Vec::new();
    while let Some(item) = soon(items.next()).await {
        let item = item.unwrap();
        all.push((item.number, item.value));
    }
    all
}
