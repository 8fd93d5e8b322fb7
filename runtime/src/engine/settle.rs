//! Attempts: when they begin, and what follows when they have ended (S19, S20, S21).

use std::time::Duration;

use perennial::history::{ActivityFailure, Decision, Observation};
use perennial::value::{EncodeError, Value};
use perennial::{Attempt, AttemptEnd, RunKey, Timestamp};

use super::advance::not_registered;
use super::run::{After, Input, Open, Progress, Run};
use super::shard::Shard;
use super::timers::TimerMessage;
use super::Shared;
use crate::activity::{AttemptReport, Order, Slot, Waiting};
use crate::store::{AttemptOutcome, AttemptRecord, StoreError, Task, TaskChange};

/// What is known of an attempt that nobody can ask any more.
const LOST: &str = "the process that ran the attempt ended before it did";

impl Shard {
    /// What a process that is gone may have begun is lost, and follows its class: both classes that there
    /// are run it again.
    pub(super) fn recover(&mut self, key: &RunKey, operation: u64) {
        let (now, owner) = (self.shared.clock.now(), self.shared.owner);
        let Some(run) = self.runs.get_mut(key) else { return };
        let Some(open) = run.tasks.get_mut(&operation) else { return };
        if open.progress == Progress::Idle && open.task.started.is_some_and(|begun_by| begun_by != owner) {
            open.progress = Progress::Settling;
            run.failed_attempt(operation, AttemptOutcome::Lost, LOST.to_owned(), now, false);
        }
    }

    /// Brings an attempt on its way: to its time, to a slot, or to the commit that lets it begin.
    pub(super) fn prepare(&mut self, key: &RunKey, operation: u64) {
        if self.shared.is_draining() {
            return;
        }
        let now = self.shared.clock.now();
        let Some(run) = self.runs.get_mut(key) else { return };
        let Some(open) = run.tasks.get_mut(&operation) else { return };
        if !matches!(open.progress, Progress::Idle | Progress::Waiting) {
            return;
        }
        if !self.shared.registry.activities.contains_key(open.task.name.as_str()) {
            if run.blocked.is_none() && !run.is_late(operation) {
                let error = not_registered(&self.shared, run, run.tasks[&operation].task.unit, &run.tasks[&operation].task.name);
                self.block(key, &error);
            }
            return;
        }
        if is_overdue(&open.task, now) {
            open.progress = Progress::Settling;
            return run.fail_operation(operation, ActivityFailure::TimedOut, now);
        }
        if open.task.not_before > now && open.progress == Progress::Idle {
            open.progress = Progress::Waiting;
            let at = open.task.not_before;
            return self.shared.timer(TimerMessage::Retry { run: key.clone(), operation, at });
        }
        match self.shared.slots.take() {
            Some(slot) => self.grant(key, operation, slot),
            None => {
                open.progress = Progress::Waiting;
                self.wait_in_line(key, operation);
            }
        }
    }

    /// Puts an attempt in line for a slot. It waits no longer than its operation may take.
    pub(super) fn wait_in_line(&self, key: &RunKey, operation: u64) {
        let Some(open) = self.runs.get(key).and_then(|run| run.tasks.get(&operation)) else { return };
        if let Some(timeout) = open.task.options.timeout {
            let at = open.task.scheduled + timeout;
            self.shared.timer(TimerMessage::Retry { run: key.clone(), operation, at });
        }
        self.shared.slots.wait(Waiting { run: key.clone(), operation });
    }

    /// An attempt that has a slot gets its start record; it begins when that is durable (S20).
    pub(super) fn grant(&mut self, key: &RunKey, operation: u64, slot: Slot) {
        let (now, owner) = (self.shared.clock.now(), self.shared.owner);
        let Some(run) = self.runs.get_mut(key) else { return };
        let Some(open) = run.tasks.get_mut(&operation) else { return };
        if !matches!(open.progress, Progress::Idle | Progress::Waiting) || self.shared.is_draining() {
            return;
        }
        if is_overdue(&open.task, now) {
            open.progress = Progress::Settling;
            return run.fail_operation(operation, ActivityFailure::TimedOut, now);
        }
        open.progress = Progress::Committing;
        open.task.started = Some(owner);
        run.changes.tasks.push(TaskChange::Put(open.task.clone()));
        run.after.push(After::Dispatch { operation, slot });
    }

    /// An attempt has ended.
    pub(super) fn settle(&mut self, key: &RunKey, operation: u64, attempt: u32, report: AttemptReport) {
        let now = self.shared.clock.now();
        let Some(run) = self.runs.get_mut(key) else { return };
        let Some(open) = run.tasks.get_mut(&operation) else { return };
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
                return run.inputs.push_back(Input::new(Observation::ActivityCompleted { operation, result }));
            }
            AttemptReport::Ended(AttemptEnd::Rejected(value)) => ActivityFailure::Rejected { value },
            AttemptReport::Ended(AttemptEnd::Unstorable(EncodeError::TooLarge { size, limit })) => {
                ActivityFailure::TooLarge { size: size as u64, limit: limit as u64 }
            }
            // Another attempt would give the same.
            AttemptReport::Ended(AttemptEnd::Unstorable(error)) => {
                let said = error.to_string();
                let outcome = AttemptOutcome::Failed { error: said.clone() };
                return run.failed_attempt(operation, outcome, said, now, true);
            }
            AttemptReport::Ended(AttemptEnd::Failed(error)) => {
                let error = short(error, MOST_TEXT);
                let outcome = AttemptOutcome::Failed { error: error.clone() };
                return run.failed_attempt(operation, outcome, error, now, false);
            }
            AttemptReport::Panicked(message) => {
                let message = short(message, MOST_TEXT);
                let said = format!("the activity panicked: {message}");
                return run.failed_attempt(operation, AttemptOutcome::Panicked { message }, said, now, false);
            }
            AttemptReport::DeadlineExceeded => {
                let said = "the attempt took longer than it may".to_owned();
                return run.failed_attempt(operation, AttemptOutcome::DeadlineExceeded, said, now, false);
            }
        };
        run.fail_operation(operation, failure, now);
    }
}

/// Whether the operation may have no attempt at that time.
fn is_overdue(task: &Task, at: Timestamp) -> bool {
    task.options.timeout.is_some_and(|timeout| at >= task.scheduled + timeout)
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
    fn failed_attempt(&mut self, operation: u64, outcome: AttemptOutcome, said: String, now: Timestamp, last: bool) {
        let Some(open) = self.tasks.get_mut(&operation) else { return };
        let task = &mut open.task;
        let attempts = task.attempt;
        let retry = task.options.retry;
        let lost = outcome == AttemptOutcome::Lost;
        self.changes.attempts.push(AttemptRecord { operation, attempt: attempts, outcome, at: now });
        let jitter = getrandom::u64().unwrap_or_default();
        // What was lost was not refused by anybody: it is tried again at once.
        let wait = if lost { Duration::ZERO } else { retry.wait_after(attempts, jitter) };
        let at = now + wait;
        let timed_out = is_overdue(task, at);
        task.lost = task.lost.saturating_add(lost.into());
        // Nobody failed where a process ended: the budget is for what attempts said (S19).
        let spent = !lost && !retry.allows_another(attempts.saturating_sub(task.lost));
        if last || timed_out || spent {
            let failure = if timed_out && !last {
                ActivityFailure::TimedOut
            } else {
                ActivityFailure::RetriesExhausted { last: said, attempts }
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

    fn fail_operation(&mut self, operation: u64, failure: ActivityFailure, now: Timestamp) {
        if self.is_late(operation) {
            return self.late(operation, None, now);
        }
        self.inputs.push_back(Input::new(Observation::ActivityFailed { operation, failure }));
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
            self.changes.attempts.push(AttemptRecord { operation, attempt, outcome, at: now });
        }
    }

    /// The generation has ended, and the machine was not told all that had arrived. In the commit of the end
    /// that goes to the records of its operations, so that no attempt runs again for it (S11).
    pub(super) fn leave_inputs(&mut self, now: Timestamp) {
        for Input { observation, row } in std::mem::take(&mut self.inputs) {
            self.changes.taken.extend(row.map(|(arrival, _)| arrival));
            match observation {
                Observation::ActivityCompleted { operation, result } => self.late(operation, Some(result), now),
                Observation::ActivityFailed { operation, .. } => self.late(operation, None, now),
                _ => {}
            }
        }
    }
}

/// What an attempt needs to begin; `None` when there is nothing to begin any more.
pub(super) fn order(
    shared: &Shared,
    run: &mut Run,
    operation: u64,
    slot: Slot,
) -> Result<Option<Order>, StoreError> {
    let Some(open) = run.tasks.get_mut(&operation) else { return Ok(None) };
    let Some(definition) = shared.registry.activities.get(open.task.name.as_str()) else { return Ok(None) };
    let input = match &open.input {
        Some(input) => input.clone(),
        None => {
            let units = shared.store.history(&run.key, open.task.generation, open.task.unit, 1)?;
            let decisions = units.into_iter().flat_map(|unit| unit.decisions);
            let input = decisions.into_iter().find_map(|decision| match decision {
                Decision::ActivityScheduled { operation: o, input, .. } if o == operation => Some(input),
                _ => None,
            });
            let gap = StoreError::Gap { run: run.key.clone(), expected: open.task.unit, found: None };
            open.input.insert(input.ok_or(gap)?).clone()
        }
    };
    let Open { task, progress, .. } = open;
    let now = shared.clock.now();
    let overall = task.options.timeout.map(|timeout| (task.scheduled + timeout).since(now).min(timeout));
    let deadline = match (task.options.attempt, overall) {
        (Some(one), Some(all)) => Some(one.min(all)),
        (one, all) => one.or(all),
    };
    let mut attempt = Attempt::new(run.key.clone(), operation, task.name.as_str());
    attempt.number = task.attempt;
    attempt.deadline = deadline.map(|deadline| now + deadline);
    attempt.fence = run.fence.0;
    attempt.stop = shared.stop.clone();
    *progress = Progress::Running;
    Ok(Some(Order { definition: *definition, attempt, input, deadline, states: shared.registry.states.clone(), slot }))
}
