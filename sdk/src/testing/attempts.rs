//! Attempts of activities: when they begin, what answers, and what follows when they have failed (S19).
//!
//! It is what a runtime does, with two differences: waits are not shortened at random, so that a test knows
//! them, and an attempt takes no time unless its mock says so.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::driver::{Answering, AttemptReport, Driver, Due, Shared};
use super::failure::{Endless, TestFailure};
use super::real::{self, BlockOn};
use super::slots::fill_all;
use crate::history::{ActivityFailure, Observation};
use crate::value::{EncodeError, Value};
use crate::{ActivityCx, ActivityOptions, Attempt, AttemptEnd, States, Timestamp};

/// So many failed attempts of one operation say that it goes on for ever, where nothing bounds them and the
/// clock moves by itself.
const MOST_BY_ITSELF: u32 = 100;
/// The same where the test moves the clock.
const MOST: u32 = 100_000;

/// The open activities of a run, by operation.
pub(super) type Tasks = BTreeMap<u64, Task>;

/// An activity that has been scheduled and has no result.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) activity: String,
    pub(super) input: Value,
    pub(super) options: ActivityOptions,
    /// The attempt that runs or comes next, from 1.
    pub(super) attempt: u32,
    pub(super) scheduled: Timestamp,
}

impl Task {
    fn is_overdue(&self, at: Timestamp) -> bool {
        self.options
            .timeout
            .is_some_and(|timeout| at >= self.scheduled + timeout)
    }

    /// How long an attempt may take that begins `now`.
    fn deadline(&self, now: Timestamp) -> Option<Duration> {
        let timeout = self.options.timeout;
        let overall = timeout.map(|timeout| (self.scheduled + timeout).since(now).min(timeout));
        match (self.options.attempt, overall) {
            (Some(one), Some(all)) => Some(one.min(all)),
            (one, all) => one.or(all),
        }
    }
}

/// An attempt that is about to begin.
struct Order {
    activity: String,
    acx: ActivityCx,
    input: Value,
    answering: Answering,
    states: Arc<States>,
    block_on: Option<Rc<RefCell<BlockOn>>>,
    /// How long it may take.
    deadline: Option<Duration>,
}

/// Lets happen what is due now, until nothing is.
pub(super) fn settle(shared: &Shared) -> Result<(), TestFailure> {
    loop {
        shared.borrow_mut().feed()?;
        if fill_all(shared)? {
            continue;
        }
        let due = shared.borrow_mut().take_due();
        let Some(Due {
            run,
            operation,
            end,
        }) = due
        else {
            return Ok(());
        };
        match end {
            None => begin(shared, run, operation)?,
            Some(report) => shared.borrow_mut().settle(run, operation, report)?,
        }
    }
}

/// Begins an attempt and asks for its answer, which arrives after the time that the attempt takes.
fn begin(shared: &Shared, run: usize, operation: u64) -> Result<(), TestFailure> {
    let Some(order) = shared.borrow_mut().order(run, operation) else {
        return Ok(());
    };
    let (end, takes) = order.answer()?;
    let mut driver = shared.borrow_mut();
    let now = driver.now;
    let (at, end) = match order.deadline {
        Some(deadline) if takes > deadline => (now + deadline, AttemptReport::DeadlineExceeded),
        _ => (now + takes, AttemptReport::Ended(end)),
    };
    driver.schedule(
        at,
        Due {
            run,
            operation,
            end: Some(end),
        },
    );
    Ok(())
}

impl Order {
    fn answer(&self) -> Result<(AttemptEnd, Duration), TestFailure> {
        match &self.answering {
            Answering::Mock(mock) => {
                mock.count(&self.input)
                    .map_err(|miscounted| TestFailure::Miscounted(vec![miscounted]))?;
                let end = mock.answer(&self.acx, &self.input);
                let end = end.map_err(|error| TestFailure::Refused {
                    reason: format!("the input of `{}`: {error}", self.activity),
                })?;
                Ok((end, mock.takes()))
            }
            Answering::Real(definition) => {
                let missing = (definition.states)()
                    .into_iter()
                    .find(|state| !self.states.has(state));
                if let Some(state) = missing {
                    return Err(TestFailure::NoState {
                        activity: definition.name.to_owned(),
                        state: state.name().to_owned(),
                    });
                }
                let mut block_on = self.block_on.as_ref().map(|block_on| block_on.borrow_mut());
                let end = real::run(
                    definition,
                    self.acx.clone(),
                    &self.input,
                    block_on.as_deref_mut(),
                )?;
                Ok((end, Duration::ZERO))
            }
        }
    }
}

impl Driver {
    /// What an attempt needs to begin. `None` when there is none: its operation is out of time.
    fn order(&mut self, run: usize, operation: u64) -> Option<Order> {
        let now = self.now;
        let tested = &mut self.runs[run];
        let task = tested.tasks.get(&operation)?;
        if task.is_overdue(now) {
            self.fail_operation(run, operation, ActivityFailure::TimedOut);
            return None;
        }
        let deadline = task.deadline(now);
        let mut attempt = Attempt::new(tested.key.clone(), operation, task.activity.as_str());
        attempt.number = task.attempt;
        attempt.deadline = deadline.map(|deadline| now + deadline);
        attempt.fence = 1;
        Some(Order {
            activity: task.activity.clone(),
            input: task.input.clone(),
            answering: self.activities.get(task.activity.as_str())?.clone(),
            acx: ActivityCx::new(attempt, Arc::clone(&self.states)),
            states: Arc::clone(&self.states),
            block_on: self.block_on.clone(),
            deadline,
        })
    }

    /// An attempt has ended.
    fn settle(
        &mut self,
        run: usize,
        operation: u64,
        report: AttemptReport,
    ) -> Result<(), TestFailure> {
        match report {
            AttemptReport::Ended(AttemptEnd::Completed(result)) => {
                if self.runs[run].tasks.remove(&operation).is_some() {
                    let completed = Observation::ActivityCompleted { operation, result };
                    self.runs[run].arrive(self.now, completed);
                }
            }
            AttemptReport::Ended(AttemptEnd::Rejected(value)) => {
                self.fail_operation(run, operation, ActivityFailure::Rejected { value });
            }
            AttemptReport::Ended(AttemptEnd::Unstorable(EncodeError::TooLarge { size, limit })) => {
                let failure = ActivityFailure::TooLarge {
                    size: size as u64,
                    limit: limit as u64,
                };
                self.fail_operation(run, operation, failure);
            }
            // Another attempt would give the same.
            AttemptReport::Ended(AttemptEnd::Unstorable(error)) => {
                return self.failed_attempt(run, operation, error.to_string(), true);
            }
            AttemptReport::Ended(AttemptEnd::Failed(said)) => {
                return self.failed_attempt(run, operation, said, false);
            }
            AttemptReport::DeadlineExceeded => {
                let said = "the attempt took longer than it may".to_owned();
                return self.failed_attempt(run, operation, said, false);
            }
        }
        Ok(())
    }

    /// An attempt brought no result: another follows within the budget, or the operation has failed.
    fn failed_attempt(
        &mut self,
        run: usize,
        operation: u64,
        said: String,
        last: bool,
    ) -> Result<(), TestFailure> {
        let now = self.now;
        let tested = &mut self.runs[run];
        let Some(task) = tested.tasks.get_mut(&operation) else {
            return Ok(());
        };
        let attempts = task.attempt;
        let retry = task.options.retry;
        let at = now + retry.wait_after(attempts, 0);
        let timed_out = task.is_overdue(at);
        if last || timed_out || !retry.allows_another(attempts) {
            let failure = if timed_out && !last {
                ActivityFailure::TimedOut
            } else {
                ActivityFailure::RetriesExhausted {
                    last: said,
                    attempts,
                }
            };
            self.fail_operation(run, operation, failure);
            return Ok(());
        }
        let bounded = retry.attempts.is_some() || task.options.timeout.is_some();
        // Nobody waits for what a run has left behind.
        let hurrying = self.hurrying && tested.end.is_none();
        if attempts >= MOST || (hurrying && !bounded && attempts >= MOST_BY_ITSELF) {
            return Err(TestFailure::Endless(Box::new(Endless {
                activity: task.activity.clone(),
                run: tested.recording.run.clone(),
                attempts,
                last: said,
            })));
        }
        task.attempt = attempts.saturating_add(1);
        let due = Due {
            run,
            operation,
            end: None,
        };
        self.schedule(at, due);
        Ok(())
    }

    fn fail_operation(&mut self, run: usize, operation: u64, failure: ActivityFailure) {
        let run = &mut self.runs[run];
        if run.tasks.remove(&operation).is_some() {
            run.arrive(self.now, Observation::ActivityFailed { operation, failure });
        }
    }
}
