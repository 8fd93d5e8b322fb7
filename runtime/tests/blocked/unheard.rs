//! What a program says of blocked runs that has no `tracing` subscriber. Another process, since a subscriber is the
//! whole process's.

use perennial::prelude::*;
use perennial_runtime::Runtime;
use perennial_runtime::store::MemoryStore;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::place::code;
use super::support::process::{Role, variable};

const SUBSCRIBER: &str = "PERENNIAL_TEST_SUBSCRIBER";

#[workflow]
async fn panics(_cx: &Cx) -> Result<(), Error> {
    panic!("a fault of the code")
}

/// Hears of nothing, as one that filters does.
struct Filter;

impl Subscriber for Filter {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
#[ignore = "is what other processes do"]
async fn other_process() {
    if variable(SUBSCRIBER) == "yes" {
        tracing::subscriber::set_global_default(Filter).unwrap();
    }
    // Another runtime of the process does not say it again.
    for id in ["order-1", "order-2"] {
        let builder = Runtime::builder(MemoryStore::new()).workflow(panics);
        let runtime = builder.start().await.unwrap();
        let run = runtime.client().start(panics, id, ()).await.unwrap();
        assert_eq!(code(run.result().await), "W101");
    }
}

fn said(subscriber: &str) -> Vec<String> {
    let role = Role::new("unheard::other_process").with(SUBSCRIBER, subscriber);
    let ended = role.start().ended();
    let errors = ended.last_words();
    assert!(ended.status.success(), "{errors}");
    let lines = errors.lines().map(str::trim);
    let lines = lines.filter(|line| line.starts_with("perennial: "));
    lines.map(str::to_owned).collect()
}

#[test]
fn without_a_subscriber_a_line_on_stderr_says_that_there_are_blocked_runs() {
    assert_eq!(
        said("no"),
        [
            "perennial: 1 run was blocked: order-1 [W101]; its error is in \
          `client.list().blocked(true)`, and here with a `tracing` subscriber"
        ]
    );
    assert!(said("yes").is_empty());
}
