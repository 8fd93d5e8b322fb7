//! One attempt of an activity, on the tokio runtime.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
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
) -> Option<AbortHandle> {
    let Order { definition, attempt, input, deadline, states, slot } = order;
    let span = tracing::info_span!(
        "activity",
        run = %attempt.run,
        operation = attempt.operation,
        activity = definition.name,
        attempt = attempt.number,
    );
    let began = {
        let _entered = span.enter();
        catch_unwind(AssertUnwindSafe(|| (definition.run)(ActivityCx::new(attempt, states), &input)))
    };
    let code = match began {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            let said = format!("the input of `{}`: {error}", definition.name);
            report(AttemptReport::Ended(AttemptEnd::Failed(said)));
            return None;
        }
        Err(payload) => {
            report(AttemptReport::Panicked(panic_text(payload.as_ref())));
            return None;
        }
    };
    let task = match code {
        Attempted::Asynchronous(mut code) => {
            let guarded = std::future::poll_fn(move |context| {
                match catch_unwind(AssertUnwindSafe(|| code.as_mut().poll(context))) {
                    Ok(poll) => poll.map(AttemptReport::Ended),
                    Err(payload) => Poll::Ready(AttemptReport::Panicked(panic_text(payload.as_ref()))),
                }
            });
            let work = async move {
                let end = match deadline {
                    None => guarded.await,
                    Some(deadline) => {
                        tokio::time::timeout(deadline, guarded).await.unwrap_or(AttemptReport::DeadlineExceeded)
                    }
                };
                // Before the report, so that what the report leads to finds the slot free.
                drop(slot);
                report(end);
            };
            tokio.spawn(work.instrument(span))
        }
        Attempted::Blocking(code) => {
            let mut work = tokio.spawn_blocking(move || {
                let _entered = span.enter();
                let end = catch_unwind(AssertUnwindSafe(code));
                // Code that holds its thread cannot be stopped: it keeps its slot until it ends, whatever
                // its deadline.
                drop(slot);
                end.map_or_else(
                    |payload| AttemptReport::Panicked(panic_text(payload.as_ref())),
                    AttemptReport::Ended,
                )
            });
            tokio.spawn(async move {
                let gone = |_| AttemptReport::Panicked("its thread was stopped".into());
                let end = match deadline {
                    None => (&mut work).await.unwrap_or_else(gone),
                    Some(deadline) => match tokio::time::timeout(deadline, &mut work).await {
                        Ok(end) => end.unwrap_or_else(gone),
                        Err(_) => AttemptReport::DeadlineExceeded,
                    },
                };
                report(end);
            })
        }
    };
    Some(task.abort_handle())
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a value that is no text".into())
}
