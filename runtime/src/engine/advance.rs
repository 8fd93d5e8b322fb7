//! What a run does when it is its turn: it is told what is due and what has arrived, unit by unit, and all
//! that it decided goes into one commit.

use std::sync::Arc;
use std::time::Instant;

use perennial::history::{Channel, Decision, Observation, SlotResult, Unit};
use perennial::machine::{Machine, Offered, Step, WARN_EVENTS};
use perennial::{Blocked, RunKey, Timestamp};

use super::message::Ended;
use super::run::{After, Input, Open, Progress, Run, Stage, settles};
use super::send::observation;
use super::shard::Shard;
use super::{Shared, commit};
use crate::store::{Awaited, OfferChange, Slot, SlotEffect, Status, Task, TaskChange, TimerChange};

/// How many units a commit may have.
const MOST_UNITS: usize = 256;
/// With how many bytes of values a commit gets no more units. The commits of other runs wait while it is
/// written.
const FULL: usize = 4 << 20;

impl Shard {
    /// Lets the run do what it can do now.
    pub(super) fn advance(&mut self, key: &RunKey) {
        let shared = Arc::clone(&self.shared);
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        if run.stage != Stage::Ready || run.in_flight.is_some() {
            return;
        }
        if run.ended {
            // What its attempts still bring is committed, and nothing else happens.
        } else if run.blocked.is_some() || run.paused.is_some() {
            run.keep_inputs(shared.clock.now());
        } else if run.machine.is_none() {
            let due = run.due.max(shared.clock.now());
            let awaited = &run.awaited;
            let wakes = run.inputs.wakes(|channel, name| awaited.has(channel, name));
            if run.was_blocked || wakes || run.next_is_due(due) {
                return self.begin_replay(key);
            }
            run.drop_idle_signals();
        } else {
            if let Err(error) = feed(&shared, run, Told::Awaited) {
                return self.block(key, &error);
            }
            run.clear_block();
            run.drop_idle_signals();
        }
        commit::submit(&shared, key, &mut self.runs, &mut self.outbox);
        if self
            .runs
            .get(key)
            .is_some_and(|run| run.ended && run.tasks.is_empty() && run.is_resting())
        {
            self.runs.remove(key);
        }
    }
}

impl Run {
    fn next_is_due(&self, now: Timestamp) -> bool {
        self.timers
            .first()
            .is_some_and(|(deadline, _)| *deadline <= now)
    }

    /// What to tell the machine next, and its stamp. A timer comes before what arrived after its deadline, whatever
    /// the clock says since (S2, M34). What the run does not wait for is told only before something else.
    fn next_input(
        &mut self,
        machine: &Machine,
        now: Timestamp,
        draining: bool,
        what: Told,
    ) -> Option<(Input, Timestamp)> {
        loop {
            let wakes = self
                .inputs
                .wakes(|channel, name| machine.awaits(channel, name))
                || (what == Told::All && !self.inputs.is_empty());
            // Timers are due again and again where that is all that a run waits for: they fire in the next
            // process, save those that come before what has arrived.
            if draining && !wakes {
                return None;
            }
            // What the run's own decisions came to is before all else (S3).
            if let Some(input) = self.inputs.pop_filled() {
                let at = input.row.map_or(self.stamp, |(_, at)| at);
                return Some((input, at.max(self.told)));
            }
            let (front, due) = (self.inputs.front(), self.due.max(now));
            let next = self.timers.first().copied();
            if let Some((deadline, operation)) = next
                && front
                    .flatten()
                    .map_or(deadline <= due, |arrived| deadline <= arrived)
            {
                let stamp = now.max(deadline).max(self.stamp);
                return Some((Input::new(Observation::TimerFired { operation }), stamp));
            }
            if !wakes && next.is_none_or(|(deadline, _)| deadline > due) {
                return None;
            }
            let input = self.inputs.pop_front()?;
            if self.drop_signal(machine, &input) {
                continue;
            }
            let at = match input.row {
                // It got its stamp when it arrived. Others that arrived later wait behind it.
                Some((_, at)) => at.max(self.told),
                None => now.max(self.stamp),
            };
            return Some((input, at));
        }
    }

    /// A signal that nobody waits for when it is its turn is taken and told to nobody (M54).
    fn drop_signal(&mut self, machine: &Machine, input: &Input) -> bool {
        let Observation::SignalArrived(told) = &input.observation else {
            return false;
        };
        if machine.awaits(Channel::Signal, &told.name) {
            return false;
        }
        let arrival = input.row.map(|(arrival, _)| arrival);
        self.changes.taken.extend(arrival);
        self.changes.dropped_signals += 1;
        true
    }

    /// Signals that nobody waits for do not gather while nothing else happens.
    fn drop_idle_signals(&mut self) {
        if !self.inputs.is_quiet() {
            return;
        }
        let next = self.timers.first().map(|(deadline, _)| *deadline);
        let taken = self.inputs.take_idle_signals(next);
        self.changes.dropped_signals += taken.len() as u64;
        self.changes.taken.extend(taken);
    }

    /// Tells the store what the run waits for, where that is not what it was.
    pub(super) fn note_awaited(&mut self, machine: &Machine) {
        let now = machine.awaited();
        let same = match &self.awaited {
            Awaited::Names(before) => {
                before.len() == now.len()
                    && before
                        .iter()
                        .zip(&now)
                        .all(|(before, now)| before.0 == now.0 && before.1 == now.1)
            }
            Awaited::Anything => false,
        };
        if same {
            return;
        }
        self.inputs.look_again();
        let awaited = Awaited::of(now);
        if awaited != self.awaited {
            self.awaited = awaited.clone();
            self.changes.awaited = Some(awaited);
        }
    }

    /// A run that was blocked and goes on is not blocked any more.
    pub(super) fn clear_block(&mut self) {
        if std::mem::take(&mut self.was_blocked) {
            self.changes.blocked = Some(crate::store::BlockedChange::Clear);
            self.after.push(After::Unblocked);
        }
    }
}

/// How much a run is told of what has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// What it waits for, and what came before that.
    Awaited,
    /// All of it: something else comes next that is not in the queue.
    All,
}

/// Tells the machine what is due and what has arrived. Says whether that was all, and nothing of it is to come to
/// something by the next commit.
pub(super) fn feed(shared: &Shared, run: &mut Run, what: Told) -> Result<bool, Blocked> {
    let Some(mut machine) = run.machine.take() else {
        return Ok(false);
    };
    let mut is_all = false;
    let mut bytes = 0;
    while run.changes.units.len() < MOST_UNITS && bytes < FULL && !machine.is_finished() {
        is_all = run.inputs.is_empty() && run.timers.is_empty();
        if is_all {
            break;
        }
        let (now, draining) = (shared.clock.now(), shared.is_draining());
        let Some((input, at)) = run.next_input(&machine, now, draining, what) else {
            is_all = true;
            break;
        };
        match observe(shared, run, &mut machine, &input, at, now) {
            Ok(step) => {
                bytes += values(&step.unit);
                apply(shared, run, &input, step, now);
                run.changes.next_operation = Some(machine.next_operation());
                run.note_awaited(&machine);
                is_all = false;
                // What they come to is what the run is told next, and only the commit knows it (S3).
                if !run.changes.slots.is_empty() {
                    break;
                }
            }
            Err(error) => {
                // It is told again when code that fits is there. A timer is still in the run's list.
                if !matches!(input.observation, Observation::TimerFired { .. }) {
                    run.inputs.push_front(input);
                }
                return Err(error);
            }
        }
    }
    is_all &= !machine.is_finished() && run.changes.slots.is_empty();
    keep(shared, run, machine);
    Ok(is_all)
}

/// Puts what the machine was told by somebody else into the next commit, and the machine back.
pub(super) fn take_in(
    shared: &Shared,
    run: &mut Run,
    machine: Box<Machine>,
    input: &Input,
    step: Step,
    now: Timestamp,
) {
    apply(shared, run, input, step, now);
    run.changes.next_operation = Some(machine.next_operation());
    run.note_awaited(&machine);
    keep(shared, run, machine);
}

fn keep(shared: &Shared, run: &mut Run, machine: Box<Machine>) {
    if machine.is_finished() {
        run.leave_inputs(shared.clock.now());
    } else {
        run.machine = Some(machine);
    }
}

/// How many bytes the values of a unit have.
pub(super) fn values(unit: &Unit) -> usize {
    let observed = match &unit.observation {
        Observation::ActivityCompleted { result, .. } => result.as_json().len(),
        Observation::MessageArrived(told) | Observation::SignalArrived(told) => {
            told.payload.as_json().len()
        }
        Observation::StubFulfilled { value, .. } => value.as_json().len(),
        Observation::UpdateAccepted { input, .. } => input.as_json().len(),
        _ => 0,
    };
    let decided = unit.decisions.iter().map(|decision| match decision {
        Decision::ActivityScheduled { input: value, .. }
        | Decision::StubOffered { input: value, .. }
        | Decision::SendRequested { payload: value, .. }
        | Decision::FulfilRequested { value, .. }
        | Decision::Recorded { value, .. }
        | Decision::Emitted { value, .. }
        | Decision::UpdateAnswered { value, .. }
        | Decision::Completed { value, .. }
        | Decision::Failed { error: value, .. } => value.as_json().len(),
        _ => 0,
    });
    observed + decided.sum::<usize>()
}

/// Feeds one observation, with the run's name in what the code logs, and a warning when it takes long.
pub(super) fn observe(
    shared: &Shared,
    run: &Run,
    machine: &mut Machine,
    input: &Input,
    at: Timestamp,
    now: Timestamp,
) -> Result<Step, Blocked> {
    let span = tracing::info_span!("run", run = %run.key, workflow = %run.workflow);
    let began = Instant::now();
    let step = span.in_scope(|| machine.observe(input.observation.clone(), at, now));
    let took = began.elapsed();
    if took >= shared.settings.slow_poll {
        tracing::warn!(
            run = %run.key,
            workflow = %run.workflow,
            milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            "a workflow's code held its thread for long, and the other runs of that thread waited; move the \
             work into an activity (`#[activity(pure, blocking)]` for what only computes)"
        );
    }
    let step = step?;
    let name_of = |scheduled: &perennial::machine::Scheduled| match &step.unit.decisions
        [scheduled.decision]
    {
        Decision::ActivityScheduled { name, .. } => name.clone(),
        _ => "".into(),
    };
    let unknown = step
        .scheduled
        .iter()
        .find(|s| !shared.registry.activities.contains_key(&*name_of(s)));
    match unknown {
        None => Ok(step),
        Some(scheduled) => {
            let event = step.unit.number + 1 + scheduled.decision as u64;
            Err(not_registered(shared, run, event, &name_of(scheduled)))
        }
    }
}

pub(super) fn not_registered(shared: &Shared, run: &Run, event: u64, name: &str) -> Blocked {
    let (registry, artifact) = (&shared.registry, &shared.artifact);
    registry.no_activity(&run.key, &run.workflow, event, name, artifact)
}

/// Puts what a unit decided into the next commit and what follows it.
pub(super) fn apply(shared: &Shared, run: &mut Run, input: &Input, step: Step, now: Timestamp) {
    let Step {
        unit,
        scheduled,
        stopped_timers,
        offers,
        logs,
        views,
        finished,
    } = step;
    run.told = unit.at;
    run.stamp = run.stamp.max(unit.at);
    if let Some((arrival, _)) = input.row {
        run.changes.taken.push(arrival);
    }
    if let Some(operation) = settles(&input.observation) {
        run.tasks.remove(&operation);
        run.changes.tasks.push(TaskChange::Remove(operation));
    }
    if let Observation::TimerFired { operation: fired } = &input.observation
        && let Some((deadline, operation)) = run
            .timers
            .iter()
            .find(|(_, operation)| operation == fired)
            .copied()
    {
        run.stop_timer(operation, deadline);
    }
    for (operation, deadline) in stopped_timers {
        run.stop_timer(operation, deadline);
    }
    let is_closed = |offered: &Offered| matches!(offered, Offered::Closed { .. });
    // Once, however many they are.
    let withdraws = offers.iter().any(is_closed);
    run.after.extend(withdraws.then_some(After::Withdrawn));
    for offered in offers {
        if let Offered::Opened { name, .. } = offered {
            run.after.push(After::Offered(name));
        }
        run.changes.offers.push(change_of(offered, &unit));
    }
    if !logs.is_empty() {
        run.after.push(After::Logs(logs));
    }
    let gives = |decision: &Decision| matches!(decision, Decision::Emitted { .. });
    if !views.is_empty() || unit.decisions.iter().any(gives) {
        run.after.push(After::News);
    }
    for shown in views {
        run.show(shared, shown, unit.at, unit.last());
    }
    let mut options = scheduled.iter();
    for decision in &unit.decisions {
        match decision {
            Decision::ActivityScheduled {
                operation,
                name,
                input,
                ..
            } => {
                let Some(scheduled) = options.next() else {
                    continue;
                };
                let slot = shared.slots.take();
                let task = Task {
                    operation: *operation,
                    generation: run.generation,
                    unit: unit.number,
                    name: name.to_string(),
                    options: scheduled.options,
                    attempt: 1,
                    lost: 0,
                    started: slot.is_some().then_some(shared.owner),
                    not_before: Timestamp::default(),
                    scheduled: unit.at,
                    last_failure: None,
                };
                let progress = if slot.is_some() {
                    Progress::Committing
                } else {
                    Progress::Waiting
                };
                run.after.push(match slot {
                    Some(slot) => After::Dispatch {
                        operation: *operation,
                        slot,
                    },
                    None => After::WaitForSlot {
                        operation: *operation,
                    },
                });
                run.changes.tasks.push(TaskChange::Put(task.clone()));
                run.tasks.insert(
                    *operation,
                    Open::new(task, Some(input.clone()), progress).into(),
                );
            }
            Decision::TimerStarted {
                operation,
                deadline,
                ..
            } => {
                run.timers.insert((*deadline, *operation));
                run.changes.timers.push(TimerChange::Put {
                    operation: *operation,
                    deadline: *deadline,
                });
                // Counted from the time that the deadline was counted from, which may be ahead of a clock that
                // was set back: it waits no longer than the code asked for (S7).
                let wait = deadline.since(now.max(unit.at));
                run.after.push(After::Timer {
                    operation: *operation,
                    deadline: *deadline,
                    rings: Instant::now().checked_add(wait),
                });
            }
            Decision::SendRequested {
                operation,
                run: to,
                channel,
                name,
                payload,
                ..
            } => {
                let effect = match shared.refuse_name((&run.key, &run.workflow), to, *channel, name)
                {
                    Some(failure) => SlotEffect::Known(SlotResult::NotSent(failure)),
                    None => SlotEffect::Send {
                        run: to.clone(),
                        observation: observation(*channel, name.to_string(), payload.clone(), None),
                    },
                };
                run.changes.slots.push(Slot {
                    operation: *operation,
                    at: now,
                    effect,
                });
            }
            Decision::FulfilRequested {
                operation,
                reference,
                stub,
                value,
                ..
            } => run.changes.slots.push(Slot {
                operation: *operation,
                at: now,
                effect: SlotEffect::Fulfil {
                    reference: reference.clone(),
                    stub: stub.to_string(),
                    value: value.clone(),
                },
            }),
            Decision::Completed { value, .. } => {
                end(run, Status::Completed, value.clone(), unit.at);
            }
            Decision::Failed { error, .. } => end(run, Status::Failed, error.clone(), unit.at),
            _ => {}
        }
    }
    if finished {
        // Nothing is left to be told: the timers of a run end with it.
        for (deadline, operation) in std::mem::take(&mut run.timers) {
            run.changes.timers.push(TimerChange::Remove {
                operation,
                deadline,
            });
        }
    }
    if unit.number <= WARN_EVENTS && unit.last() > WARN_EVENTS {
        tracing::warn!(run = %run.key, events = unit.last(), "the history of a run is getting long");
    }
    run.changes.units.push(unit);
}

/// What becomes of an offer by a unit, for the store.
fn change_of(offered: Offered, unit: &Unit) -> OfferChange {
    match offered {
        Offered::Opened { operation, name } => OfferChange::Open {
            operation,
            unit: unit.number,
            name: name.to_owned(),
            at: unit.at,
        },
        Offered::Limited {
            operation,
            deadline,
        } => OfferChange::Limit {
            operation,
            deadline,
        },
        Offered::Closed { operation } => OfferChange::Close { operation },
    }
}

fn end(run: &mut Run, status: Status, value: perennial::value::Value, at: Timestamp) {
    run.ended = true;
    run.finished = at;
    run.changes.status = Some(status);
    run.after.push(After::Ended(Ended { status, value }));
}

impl Run {
    fn stop_timer(&mut self, operation: u64, deadline: Timestamp) {
        self.timers.remove(&(deadline, operation));
        self.changes.timers.push(TimerChange::Remove {
            operation,
            deadline,
        });
    }
}
