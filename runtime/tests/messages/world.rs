//! The program that is told things, and what the tests see of it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use perennial::RunKey;
use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, MessageInfo, MessageState, RunHandle, Runtime};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

pub(crate) use crate::support::waiting::{Gate, soon, until};

pub(crate) const A: Message<u64> = Message::new("a");
pub(crate) const B: Message<u64> = Message::new("b");
/// As `a`, of another type.
pub(crate) const TEXTS: Message<String> = Message::new("a");
pub(crate) const NOTHING: Message<()> = Message::new("nothing");
pub(crate) const BELL: Signal<u64> = Signal::new("bell");

/// How the test steers the activities.
pub(crate) struct World {
    gate: Arc<Gate>,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        let _ = &*SEEN;
        Arc::new(Self { gate: Gate::new() })
    }

    /// So many executions of `gated` may end.
    pub(crate) fn open(&self, executions: usize) {
        self.gate.open(executions);
    }

    /// Until an execution of `gated` has begun.
    pub(crate) async fn begun(&self) {
        self.gate.begun().await;
    }
}

#[activity(idempotent)]
pub(crate) async fn gated(acx: &ActivityCx) -> Result<(), Failure> {
    let world = acx.state::<Arc<World>>();
    world.gate.pass().await;
    Ok(())
}

#[activity(idempotent, retry(initial = "5h", cap = "5h"))]
async fn fails(acx: &ActivityCx) -> Result<(), Failure> {
    acx.state::<Arc<World>>().gate.begin();
    Err(Failure::transient("not yet"))
}

/// A wait in a helper: of a workflow that calls it nobody knows all that it waits for (M38).
#[durable]
async fn take(cx: &Cx) -> Result<u64, ReceiveError> {
    cx.receive(A).await
}

/// Takes one message.
#[workflow]
pub(crate) async fn one(cx: &Cx) -> Result<u64, ReceiveError> {
    take(cx).await
}

/// Takes so many messages.
#[workflow]
pub(crate) async fn several(cx: &Cx, count: u64) -> Result<Vec<u64>, ReceiveError> {
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(take(cx).await?);
    }
    Ok(all)
}

/// Does something before it takes so many messages.
#[workflow]
pub(crate) async fn busy(cx: &Cx, count: u64) -> Result<Vec<u64>, Error> {
    gated(cx).await?;
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(take(cx).await?);
    }
    Ok(all)
}

/// Takes a message, does something, and takes another.
#[workflow]
pub(crate) async fn twice(cx: &Cx) -> Result<(u64, u64), Error> {
    let first = take(cx).await?;
    gated(cx).await?;
    Ok((first, take(cx).await?))
}

#[workflow]
pub(crate) async fn ends(cx: &Cx, well: Option<bool>) -> Result<u64, Error> {
    match well {
        Some(true) => Ok(7),
        Some(false) => Err(Error::new("no")),
        None => Ok(take(cx).await?),
    }
}

/// Takes nothing, unless it is to, and ends with an activity.
#[workflow]
pub(crate) async fn deaf(cx: &Cx, takes: u64) -> Result<(), Error> {
    for _ in 0..takes {
        take(cx).await?;
    }
    Ok(gated(cx).await?)
}

/// Waits while an activity backs off for hours.
#[workflow]
pub(crate) async fn backs_off(cx: &Cx) -> Result<u64, Error> {
    Ok(select! {
        failed = fails(cx) => { failed?; 0 },
        got = take(cx) => got?,
    })
}

/// Whether it got something that says nothing.
#[workflow]
pub(crate) async fn nothing(cx: &Cx) -> Result<bool, ReceiveError> {
    let got = cx.receive(NOTHING).timeout(days(1)).await?;
    Ok(got.is_some())
}

/// Takes two of one name and two of another.
#[workflow]
pub(crate) async fn two_names(cx: &Cx) -> Result<Vec<u64>, ReceiveError> {
    let mut all = vec![cx.receive(B).await?, cx.receive(A).await?];
    all.push(cx.receive(A).await?);
    all.push(cx.receive(B).await?);
    Ok(all)
}

/// Waits for two names at once.
#[workflow]
pub(crate) async fn both_names(cx: &Cx) -> Result<(u64, u64), ReceiveError> {
    let (a, b) = join!(cx.receive(A), cx.receive(B));
    Ok((a?, b?))
}

/// Two waits for one name.
#[workflow]
pub(crate) async fn same_name(cx: &Cx) -> Result<(u64, u64), ReceiveError> {
    let (first, second) = join!(cx.receive(A), cx.receive(A));
    Ok((first?, second?))
}

/// A wait beside a long sleep.
#[workflow]
pub(crate) async fn beside(cx: &Cx) -> Result<u64, Error> {
    let (got, slept) = join!(take(cx), cx.sleep(days(1)));
    slept?;
    Ok(got?)
}

/// A wait with a time limit, and one without.
#[workflow]
pub(crate) async fn limited(cx: &Cx) -> Result<(Option<u64>, u64), ReceiveError> {
    let first = cx.receive(A).timeout(hours(1)).await?;
    Ok((first, cx.receive(A).await?))
}

/// Gives up soon, and does something then.
#[workflow]
pub(crate) async fn impatient(cx: &Cx) -> Result<Option<u64>, Error> {
    let got = cx.receive(A).timeout(millis(1)).await?;
    gated(cx).await?;
    Ok(got)
}

/// Does something and waits for a signal.
#[workflow]
pub(crate) async fn listens(cx: &Cx) -> Result<u64, Error> {
    gated(cx).await?;
    Ok(cx.wait_for(BELL).await?)
}

/// Two waits for one signal.
#[workflow]
pub(crate) async fn two_listen(cx: &Cx) -> Result<(u64, u64), ReceiveError> {
    let (first, second) = join!(cx.wait_for(BELL), cx.wait_for(BELL));
    Ok((first?, second?))
}

pub(crate) fn builder(store: Arc<dyn Store>, world: &Arc<World>) -> Builder {
    Runtime::builder(store)
        .workflow(one)
        .workflow(several)
        .workflow(busy)
        .workflow(twice)
        .workflow(ends)
        .workflow(deaf)
        .workflow(backs_off)
        .workflow(nothing)
        .workflow(two_names)
        .workflow(both_names)
        .workflow(same_name)
        .workflow(beside)
        .workflow(limited)
        .workflow(impatient)
        .workflow(listens)
        .workflow(two_listen)
        .activities((gated, fails))
        .state(Arc::clone(world))
        .artifact("test")
        .shards(1)
}

pub(crate) async fn runtime(store: Arc<dyn Store>, world: &Arc<World>) -> Runtime {
    builder(store, world).start().await.unwrap()
}

pub(crate) fn key(id: &str) -> RunKey {
    RunKey::new(perennial::Namespace::default(), id.parse().unwrap())
}

pub(crate) async fn messages<W: perennial::Workflow>(run: &RunHandle<W>) -> Vec<MessageInfo> {
    run.list_messages().page().await.unwrap().messages
}

pub(crate) fn is_taken(message: &MessageInfo) -> bool {
    matches!(message.state, MessageState::Consumed { .. })
}

/// How often the code of each run was polled with something new, and how often each was replayed.
static SEEN: LazyLock<Seen> = LazyLock::new(|| {
    let seen = Seen::default();
    tracing::subscriber::set_global_default(seen.clone()).unwrap();
    seen
});

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<HashMap<String, (u64, u64)>>>);

/// Polls and replays of the runs of an id from some time on. The engine says when there is one.
pub(crate) struct Counted {
    id: &'static str,
    before: (u64, u64),
}

impl Counted {
    pub(crate) fn from_now(id: &'static str) -> Self {
        let before = SEEN.of(id);
        Self { id, before }
    }

    /// How many polls, and how many replays.
    pub(crate) fn now(&self) -> (u64, u64) {
        let (polls, replays) = SEEN.of(self.id);
        (polls - self.before.0, replays - self.before.1)
    }
}

impl Seen {
    fn of(&self, id: &str) -> (u64, u64) {
        self.0.lock().unwrap().get(id).copied().unwrap_or_default()
    }
}

#[derive(Default)]
struct Run(String, String);

impl Visit for Run {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        match field.name() {
            "run" => self.0 = format!("{value:?}"),
            "message" => self.1 = format!("{value:?}"),
            _ => {}
        }
    }
}

impl Subscriber for Seen {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        if span.metadata().name() == "run" {
            let mut run = Run::default();
            span.record(&mut run);
            self.0.lock().unwrap().entry(run.0).or_default().0 += 1;
        }
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut run = Run::default();
        event.record(&mut run);
        if run.1 == "the run is replayed" {
            self.0.lock().unwrap().entry(run.0).or_default().1 += 1;
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
