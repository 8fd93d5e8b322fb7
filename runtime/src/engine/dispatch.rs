//! Attempts on their way: to their time, to a slot, to the commit that lets them begin, and to their start
//! (S20).

use std::sync::Arc;

use perennial::history::{ActivityFailure, Decision};
use perennial::{Attempt, RunKey, Timestamp};

use super::Shared;
use super::advance::not_registered;
use super::message::Message;
use super::open::unreadable_history;
use super::run::{After, Progress, Run};
use super::shard::Shard;
use super::timers::TimerMessage;
use crate::activity::{Order, Slot, Waiting, run_attempt};
use crate::store::{StoreError, Task, TaskChange};

impl Shard {
    /// Brings an attempt on its way: to its time, to a slot, or to the commit that lets it begin.
    pub(super) fn prepare(&mut self, key: &RunKey, operation: u64) {
        if self.shared.is_draining() {
            return;
        }
        let now = self.shared.clock.now();
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        let Some(open) = run.tasks.get_mut(&operation) else {
            return;
        };
        if !matches!(open.progress, Progress::Idle | Progress::Waiting) {
            return;
        }
        if !self
            .shared
            .registry
            .activities
            .contains_key(open.task.name.as_str())
        {
            if run.blocked.is_none() && !run.is_late(operation) {
                let error = not_registered(
                    &self.shared,
                    run,
                    run.tasks[&operation].task.unit,
                    &run.tasks[&operation].task.name,
                );
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
            return self.shared.timer(TimerMessage::Retry {
                run: key.clone(),
                operation,
                at,
            });
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
        let Some(open) = self.runs.get(key).and_then(|run| run.tasks.get(&operation)) else {
            return;
        };
        if let Some(timeout) = open.task.options.timeout {
            let at = open.task.scheduled + timeout;
            self.shared.timer(TimerMessage::Retry {
                run: key.clone(),
                operation,
                at,
            });
        }
        self.shared.slots.wait(Waiting {
            run: key.clone(),
            operation,
        });
    }

    /// An attempt that has a slot gets its start record; it begins when that is durable (S20).
    pub(super) fn grant(&mut self, key: &RunKey, operation: u64, slot: Slot) {
        let (now, owner) = (self.shared.clock.now(), self.shared.owner);
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        let Some(open) = run.tasks.get_mut(&operation) else {
            return;
        };
        if !matches!(open.progress, Progress::Idle | Progress::Waiting) || self.shared.is_draining()
        {
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

    /// Begins the attempt whose commit is durable.
    pub(super) fn dispatch(&mut self, key: &RunKey, operation: u64, slot: Slot) {
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        let order = match order(&self.shared, run, operation, slot) {
            Ok(Some(order)) => order,
            Ok(None) => return,
            Err(error) => return self.cannot_begin(key, operation, &error),
        };
        let Some(open) = run.tasks.get_mut(&operation) else {
            return;
        };
        open.progress = Progress::Running;
        let (shared, run, attempt) = (Arc::clone(&self.shared), key.clone(), order.attempt.number);
        open.attempt = Some(run_attempt(&self.shared.tokio, order, move |report| {
            let message = Message::Attempt {
                run: run.clone(),
                operation,
                attempt,
                report,
            };
            shared.tell(&run, message);
        }));
    }

    /// The input is in the history, and that cannot be read.
    fn cannot_begin(&mut self, key: &RunKey, operation: u64, error: &StoreError) {
        tracing::error!(run = %key, operation, "an activity's input cannot be read: {error}");
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        if let Some(open) = run.tasks.get_mut(&operation) {
            open.progress = Progress::Idle;
        }
        match unreadable_history(key, &run.workflow, run.sequence, error) {
            None => self.fail(error.clone().into()),
            Some(blocked) if !run.is_late(operation) => self.block(key, &blocked),
            // Nobody waits for it, so it blocks nobody. The next process tries again.
            Some(_) => {}
        }
    }
}

/// Whether the operation may have no attempt at that time.
pub(super) fn is_overdue(task: &Task, at: Timestamp) -> bool {
    task.options
        .timeout
        .is_some_and(|timeout| at >= task.scheduled + timeout)
}

/// What an attempt needs to begin; `None` when there is nothing to begin any more.
fn order(
    shared: &Shared,
    run: &mut Run,
    operation: u64,
    slot: Slot,
) -> Result<Option<Order>, StoreError> {
    let Some(open) = run.tasks.get_mut(&operation) else {
        return Ok(None);
    };
    let Some(definition) = shared.registry.activities.get(open.task.name.as_str()) else {
        return Ok(None);
    };
    let input = match &open.input {
        Some(input) => input.clone(),
        None => {
            let units = shared
                .store
                .history(&run.key, open.task.generation, open.task.unit, 1)?;
            let decisions = units.into_iter().flat_map(|unit| unit.decisions);
            let input = decisions.into_iter().find_map(|decision| match decision {
                Decision::ActivityScheduled {
                    operation: o,
                    input,
                    ..
                } if o == operation => Some(input),
                _ => None,
            });
            let gap = StoreError::Gap {
                run: run.key.clone(),
                expected: open.task.unit,
                found: None,
            };
            open.input.insert(input.ok_or(gap)?).clone()
        }
    };
    let task = &open.task;
    let now = shared.clock.now();
    let overall = task
        .options
        .timeout
        .map(|timeout| (task.scheduled + timeout).since(now).min(timeout));
    let deadline = match (task.options.attempt, overall) {
        (Some(one), Some(all)) => Some(one.min(all)),
        (one, all) => one.or(all),
    };
    let mut attempt = Attempt::new(run.key.clone(), operation, task.name.as_str());
    attempt.number = task.attempt;
    attempt.deadline = deadline.map(|deadline| now + deadline);
    attempt.fence = run.fence.0;
    attempt.stop = shared.stop.clone();
    Ok(Some(Order {
        definition: *definition,
        attempt,
        input,
        deadline,
        states: shared.registry.states.clone(),
        slot,
    }))
}
