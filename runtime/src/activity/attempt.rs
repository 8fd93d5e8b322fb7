//! One attempt of an activity, on the tokio runtime.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use perennial::value::Value;
use perennial::{ActivityCx, ActivityDefinition, Attempt, AttemptEnd, Attempted, States};
use tokio::task::AbortHandle;
use tracing::Instrument;

use super::Slot;

/// An attempt to be run.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) definition: ActivityDefinition,
    pub(crate) attempt: Attempt,
    pub(crate) input: Value,
    /// How long it may take from now on.
    pub(crate) deadline: Option<Duration>,
    pub(crate) states: Arc<States>,
    pub(crate) slot: Slot,
}

/// How an attempt ended.
#[derive(Debug)]
pub(crate) enum AttemptReport {
    /// It came to an end by itself.
    Ended(AttemptEnd),
    /// It panicked.
    Panicked(String),
    /// It took longer than it may.
    DeadlineExceeded,
}

/// Runs the attempt and reports how it ended, once. What is returned stops the attempt, unless it holds its
/// thread: that cannot be stopped, and only its report is.
pub(crate) fn run_attempt(
    tokio: &tokio::runtime::Handle,
    order: Order,
    report: impl FnOnce(AttemptReport) + Send + 'static,
) -> AbortHandle {
    let span = tracing::info_span!(
        "activity",
        run = %order.attempt.run,
        operation = order.attempt.operation,
        activity = order.definition.name,
        attempt = order.attempt.number,
    );
    let work = async move {
        // What was left of an attempt that ran out of time is dropped in there, and that is code of the
        // user's too.
        let end = CatchUnwind(pin!(attempt(order))).await;
        report(end.unwrap_or_else(|payload| AttemptReport::Panicked(panic_text(payload.as_ref()))));
    };
    tokio.spawn(work.instrument(span)).abort_handle()
}

/// The attempt from its input to its end. The slot is free by then, so that what the report leads to finds it.
async fn attempt(order: Order) -> AttemptReport {
    let Order {
        definition,
        attempt,
        input,
        deadline,
        states,
        slot,
    } = order;
    match (definition.run)(ActivityCx::new(attempt, states), &input) {
        Err(error) => AttemptReport::Ended(AttemptEnd::Failed(format!(
            "the input of `{}`: {error}",
            definition.name
        ))),
        Ok(Attempted::Asynchronous(code)) => {
            let end = within(deadline, code).await;
            drop(slot);
            end.map_or(AttemptReport::DeadlineExceeded, AttemptReport::Ended)
        }
        Ok(Attempted::Blocking(code)) => {
            let span = tracing::Span::current();
            let work = tokio::task::spawn_blocking(move || {
                let _entered = span.enter();
                let end = catch_unwind(AssertUnwindSafe(code));
                // Code that holds its thread cannot be stopped: it keeps its slot until it ends, whatever
                // its deadline.
                drop(slot);
                match end {
                    Ok(end) => AttemptReport::Ended(end),
                    Err(payload) => AttemptReport::Panicked(panic_text(payload.as_ref())),
                }
            });
            let gone = |_| AttemptReport::Panicked("its thread was stopped".into());
            let end = within(deadline, work).await;
            end.map_or(AttemptReport::DeadlineExceeded, |end| {
                end.unwrap_or_else(gone)
            })
        }
    }
}

/// What `code` gives; `None` when that takes too long.
async fn within<T>(deadline: Option<Duration>, code: impl Future<Output = T>) -> Option<T> {
    match deadline {
        None => Some(code.await),
        Some(deadline) => tokio::time::timeout(deadline, code).await.ok(),
    }
}

/// A future that panics gives its payload.
struct CatchUnwind<'a, F>(Pin<&'a mut F>);

impl<F: Future> Future for CatchUnwind<'_, F> {
    type Output = Result<F::Output, Box<dyn Any + Send>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(payload) => Poll::Ready(Err(payload)),
        }
    }
}

/// What a panic said.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".into())
}
