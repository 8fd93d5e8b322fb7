//! What a run logs, and when: once, and not in a replay. A test binary of its own, since the subscriber is
//! the whole process's.
#![allow(clippy::unwrap_used)]

mod support;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use perennial::prelude::*;
use perennial_runtime::Runtime;
use perennial_runtime::store::{Durability, SledStore};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Collects events as `level message field=value ..`, and spans as `span name field=value ..`.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn with(&self, part: &str) -> Vec<String> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|line| line.contains(part))
            .cloned()
            .collect()
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}{}", self.0);
        } else {
            let _ = write!(self.0, " {}={value:?}", field.name());
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(String::new());
        span.record(&mut fields);
        self.0
            .lock()
            .unwrap()
            .push(format!("span {}{}", span.metadata().name(), fields.0));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {}", event.metadata().level(), fields.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[activity(pure)]
async fn echo(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    tracing::info!("the activity says {n}");
    Ok(n)
}

#[workflow]
async fn chatty(cx: &Cx) -> Result<(), Error> {
    cx.log("first");
    tracing::info!("traced first");
    echo(cx, 1).await?;
    cx.log("second");
    cx.sleep(millis(30)).await?;
    cx.log("third");
    Ok(())
}

#[workflow]
async fn slow(cx: &Cx) -> Result<u64, Error> {
    let _ = cx;
    // Computes for longer than the limit of the test, whatever the machine.
    Ok((0..2_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)))
}

#[tokio::test]
async fn a_line_appears_once_and_not_when_it_is_replayed() {
    let lines = Lines::default();
    tracing::subscriber::set_global_default(lines.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let runtime = async || {
        let store = SledStore::options()
            .durability(Durability::Os)
            .open(folder.path())
            .unwrap();
        let builder = Runtime::builder(store)
            .workflow(chatty)
            .workflow(slow)
            .activity(echo);
        builder
            .slow_poll(Duration::from_nanos(1))
            .start()
            .await
            .unwrap()
    };
    let first = runtime().await;
    first.client().start(chatty, "chatty", ()).await.unwrap();
    let _ = first.drain(Duration::from_secs(10)).await;
    let second = runtime().await;
    second
        .client()
        .run(chatty, "chatty")
        .unwrap()
        .result()
        .await
        .unwrap();
    second
        .client()
        .start(slow, "slow", ())
        .await
        .unwrap()
        .result()
        .await
        .unwrap();
    drop(second);

    for message in ["first run=", "second run=", "third run=", "traced first"] {
        let seen: Vec<_> = lines
            .with(message)
            .into_iter()
            .filter(|line| line.starts_with("INFO"))
            .collect();
        assert_eq!(seen.len(), 1, "{message}: {seen:?}");
    }
    let logged = lines.with("INFO second");
    assert!(
        logged[0].contains("run=chatty") && logged[0].contains("logging.rs"),
        "{logged:?}"
    );
    assert_eq!(lines.with("the activity says 1").len(), 1);
    assert!(
        lines
            .with("span activity")
            .iter()
            .any(|span| span.contains("run=chatty operation=1 activity=\"echo\" attempt=1"))
    );
    assert!(
        lines
            .with("span run")
            .iter()
            .any(|span| span.contains("workflow=chatty"))
    );
    assert!(
        lines
            .with("held its thread")
            .iter()
            .any(|line| line.starts_with("WARN") && line.contains("run=slow"))
    );
}
