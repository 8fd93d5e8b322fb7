//! What follows when attempts have ended (S19, S21).

use std::time::Duration;

use perennial::history::{ActivityFailure, Observation};
use perennial::value::{EncodeError, Value};
use perennial::{AttemptEnd, RunKey, Timestamp};

use super::dispatch::is_overdue;
use super::run::{After, Input, Progress, Run};
use super::shard::Shard;
use crate::activity::AttemptReport;
use crate::store::{AttemptOutcome, AttemptRecord, TaskChange};

/// What is known of an attempt that nobody can ask any more.
const LOST: &str = "the process that ran the attempt ended before it did";

impl Shard {
    /// What a process that is gone may have begun is lost, and follows its class: both classes that there
    /// are run it again.
    pub(super) fn recover(&mut self, key: &RunKey, operation: u64) {
        let (now, owner) = (self.shared.clock.now(), self.shared.owner);
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        let Some(open) = run.tasks.get_mut(&operation) else {
            return;
        };
        if open.progress == Progress::Idle
            && open.task.started.is_some_and(|begun_by| begun_by != owner)
        {
            open.progress = Progress::Settling;
            run.failed_attempt(operation, AttemptOutcome::Lost, LOST.to_owned(), now, false);
        }
    }

    /// An attempt has ended.
    pub(super) fn settle(
        &mut self,
        key: &RunKey,
        operation: u64,
        attempt: u32,
        report: AttemptReport,
    ) {
        let now = self.shared.clock.now();
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        let Some(open) = run.tasks.get_mut(&operation) else {
            return;
        };
        // A newer attempt exists, or this one was settled already (S21).
        if open.task.attempt != attempt || open.progress != Progress::Running {
            return;
        }
        open.progress = Progress::Settling;
        let failure = match report {
            AttemptReport::Ended(AttemptEnd::Completed(result)) => {
                if run.is_late(operation) {
                    return run.late(operation, Some(result), now);
                }
                return run
                    .inputs
                    .push(Observation::ActivityCompleted { operation, result });
            }
            AttemptReport::Ended(AttemptEnd::Rejected(value)) => {
                ActivityFailure::Rejected { value }
            }
            AttemptReport::Ended(AttemptEnd::Unstorable(EncodeError::TooLarge { size, limit })) => {
                ActivityFailure::TooLarge {
                    size: size as u64,
                    limit: limit as u64,
                }
            }
            // Another attempt would give the same.
            AttemptReport::Ended(AttemptEnd::Unstorable(error)) => {
                let said = error.to_string();
                let outcome = AttemptOutcome::Failed {
                    error: said.clone(),
                };
                return run.failed_attempt(operation, outcome, said, now, true);
            }
            AttemptReport::Ended(AttemptEnd::Failed(error)) => {
                let error = short(error, MOST_TEXT);
                let outcome = AttemptOutcome::Failed {
                    error: error.clone(),
                };
                return run.failed_attempt(operation, outcome, error, now, false);
            }
            AttemptReport::Panicked(message) => {
                let message = short(message, MOST_TEXT);
                let said = format!("the activity panicked: {message}");
                return run.failed_attempt(
                    operation,
                    AttemptOutcome::Panicked { message },
                    said,
                    now,
                    false,
                );
            }
            AttemptReport::DeadlineExceeded => {
                let said = "the attempt took longer than it may".to_owned();
                return run.failed_attempt(
                    operation,
                    AttemptOutcome::DeadlineExceeded,
                    said,
                    now,
                    false,
                );
            }
        };
        run.fail_operation(operation, failure, now);
    }
}

/// The longest text of an attempt that is kept, in bytes: it is kept with each failure.
const MOST_TEXT: usize = 4_000;

/// The text, or its beginning where it has more than `most` bytes.
pub(super) fn short(mut text: String, most: usize) -> String {
    if text.len() > most {
        let mut end = most;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

impl Run {
    /// An attempt brought no result: another follows within the budget, or the operation has failed.
    fn failed_attempt(
        &mut self,
        operation: u64,
        outcome: AttemptOutcome,
        said: String,
        now: Timestamp,
        last: bool,
    ) {
        let Some(open) = self.tasks.get_mut(&operation) else {
            return;
        };
        let task = &mut open.task;
        let attempts = task.attempt;
        let retry = task.options.retry;
        let lost = outcome == AttemptOutcome::Lost;
        self.changes.attempts.push(AttemptRecord {
            operation,
            attempt: attempts,
            outcome,
            at: now,
        });
        let jitter = getrandom::u64().unwrap_or_default();
        // What was lost was not refused by anybody: it is tried again at once.
        let wait = if lost {
            Duration::ZERO
        } else {
            retry.wait_after(attempts, jitter)
        };
        let at = now + wait;
        let timed_out = is_overdue(task, at);
        task.lost = task.lost.saturating_add(lost.into());
        // Nobody failed where a process ended: the budget is for what attempts said (S19).
        let spent = !lost && !retry.allows_another(attempts.saturating_sub(task.lost));
        if last || timed_out || spent {
            let failure = if timed_out && !last {
                ActivityFailure::TimedOut
            } else {
                ActivityFailure::RetriesExhausted {
                    last: said,
                    attempts,
                }
            };
            return self.fail_operation(operation, failure, now);
        }
        task.attempt = attempts.saturating_add(1);
        task.started = None;
        task.not_before = at;
        task.last_failure = Some(said);
        self.changes.tasks.push(TaskChange::Put(task.clone()));
        if lost {
            open.progress = Progress::Idle;
        } else {
            open.progress = Progress::Committing;
            self.after.push(After::RetryAt { operation, at });
        }
    }

    pub(super) fn fail_operation(
        &mut self,
        operation: u64,
        failure: ActivityFailure,
        now: Timestamp,
    ) {
        if self.is_late(operation) {
            return self.late(operation, None, now);
        }
        self.inputs
            .push(Observation::ActivityFailed { operation, failure });
    }

    /// The run has ended without this operation: what it came to is shown with its attempts (S12).
    fn late(&mut self, operation: u64, result: Option<Value>, now: Timestamp) {
        let open = self.tasks.remove(&operation);
        if open.is_some() {
            self.changes.tasks.push(TaskChange::Remove(operation));
        }
        if let Some(result) = result {
            // Who had waited in the queue has no task any more that knows the number.
            let attempt = open.as_ref().map_or(0, |open| open.task.attempt);
            let outcome = AttemptOutcome::Late { result };
            self.changes.attempts.push(AttemptRecord {
                operation,
                attempt,
                outcome,
                at: now,
            });
        }
    }

    /// The generation has ended, and the machine was not told all that had arrived. In the commit of the end
    /// that goes to the records of its operations, so that no attempt runs again for it (S11). Messages stay unread
    /// in the queue (M42), signals go.
    pub(super) fn leave_inputs(&mut self, now: Timestamp) {
        for Input { observation, row } in self.inputs.take() {
            match observation {
                Observation::MessageArrived(_) => continue,
                Observation::SignalArrived(_) => self.changes.dropped_signals += 1,
                Observation::ActivityCompleted { operation, result } => {
                    self.late(operation, Some(result), now)
                }
                Observation::ActivityFailed { operation, .. } => self.late(operation, None, now),
                Observation::StubFulfilled {
                    operation, value, ..
                } => self.late(operation, Some(value), now),
                _ => {}
            }
            self.changes.taken.extend(row.map(|(arrival, _)| arrival));
        }
    }
}
