//! RW-41: `#[tracing::instrument]` on an activity spans the code, wherever it stands, and not the call of it.

#![deny(warnings)]

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use perennial::prelude::*;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

// ANCHOR: instrumented
#[activity(pure)]
#[tracing::instrument(skip(_acx), fields(cents))]
async fn below(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    tracing::info!("in it");
    Ok(cents)
}
// ANCHOR_END: instrumented

#[tracing::instrument(name = "other-name", skip_all)]
#[activity(pure)]
async fn above(_acx: &ActivityCx, mut cents: u64, (a, _b): (u64, u64)) -> Result<u64, Failure> {
    cents += a;
    std::future::ready(()).await;
    tracing::info!("in it");
    Ok(cents)
}

#[activity(pure, blocking)]
#[tracing::instrument(skip(_acx))]
fn blocks(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    tracing::info!("in it");
    Ok(cents)
}

#[workflow]
async fn calls(cx: &Cx) -> Result<u64, Error> {
    Ok(below(cx, 1).await? + above(cx, 1, (1, 2)).await? + blocks(cx, 3).await?)
}

/// Notes spans that are entered, and what is said in them.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Subscriber for Notes {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.0.lock().unwrap().push(format!("span {}", span.metadata().name()));
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        self.0.lock().unwrap().push("event".to_owned());
    }
    fn enter(&self, _: &Id) {
        self.0.lock().unwrap().push("enter".to_owned());
    }
    fn exit(&self, _: &Id) {}
}

fn noted(code: impl Future<Output = Result<u64, Failure>>) -> Vec<String> {
    let notes = Notes::default();
    let result = tracing::subscriber::with_default(notes.clone(), || {
        pin!(code).poll(&mut Context::from_waker(Waker::noop()))
    });
    assert!(matches!(result, Poll::Ready(Ok(3))));
    let noted = notes.0.lock().unwrap();
    // An instrumented future is entered once more when it is dropped.
    noted[..3].to_vec()
}

fn main() {
    let acx = ActivityCx::for_test();
    assert_eq!(noted(below::run(&acx, 3)), ["span below", "enter", "event"]);
    assert_eq!(noted(above::run(&acx, 2, (1, 2))), ["span other-name", "enter", "event"]);
    assert_eq!(noted(async { blocks::run(&acx, 3) }), ["span blocks", "enter", "event"]);
    assert_eq!(calls::GRAPH.callees.len(), 3);
}
