//! Perturbed double execution (S40): all that a run did is replayed from its beginning on a fresh thread, in
//! a changed world, and has to come out the same.
//!
//! A replay compares what a runtime's replay compares (S9), and two things more, since a clock may be behind
//! them: the deadlines of timers and the options of activities.

use std::sync::Arc;

use super::diverged::Diverged;
use super::report::Changed;
use super::sandbox::{Touched, World, sandbox};
use crate::history::{Decision, Observation, SlotResult, Unit};
use crate::machine::{Machine, Scheduled};
use crate::value::Value;
use crate::{Blocked, Side, WorkflowDefinition};

/// Up to so many units each one is followed by a replay.
const EACH: usize = 100;
/// How many replays a run has at its end, in worlds of their own. Where a map has two entries, every second
/// one of them has the same order by chance.
pub(super) const AT_THE_END: u64 = 16;
/// The same for a run of more than [`EACH`] units.
const AT_A_LONG_END: u64 = 4;

/// What was recorded of a run.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) run: String,
    pub(super) definition: WorkflowDefinition,
    pub(super) units: Vec<Unit>,
    /// What each unit scheduled, with its options.
    pub(super) scheduled: Vec<Vec<Scheduled>>,
    /// What each unit's code asked of the operating system.
    pub(super) touched: Vec<Vec<Touched>>,
    /// After how many units it is replayed next.
    next: usize,
    /// How many after that.
    distance: usize,
}

/// What a replay has found.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) diverged: Option<Diverged>,
    /// What the code asked of the operating system: the place of the unit and the call.
    pub(super) touched: Vec<(usize, Touched)>,
}

/// What is different in a replay.
pub(super) fn changed() -> Changed {
    match sandbox() {
        Some(_) => Changed::All,
        None => Changed::HashKeys,
    }
}

impl Recording {
    pub(super) fn new(run: String, definition: WorkflowDefinition) -> Self {
        Self {
            run,
            definition,
            units: Vec::new(),
            scheduled: Vec::new(),
            touched: Vec::new(),
            next: 1,
            distance: 1,
        }
    }

    /// Whether the unit that was recorded last is one after which the run is replayed.
    pub(super) fn is_due(&mut self) -> bool {
        if self.units.len() < self.next {
            return false;
        }
        if self.units.len() >= EACH {
            self.distance = self.distance.saturating_mul(2);
        }
        self.next = self.units.len().saturating_add(self.distance);
        true
    }

    /// The worlds of the replays at the end. They are others than those of the replays before.
    pub(super) fn last_worlds(&self) -> impl Iterator<Item = u64> + use<> {
        let units = self.units.len();
        let count = if units > EACH {
            AT_A_LONG_END
        } else {
            AT_THE_END
        };
        let first = units as u64 + 1;
        first..first + count
    }

    /// Replays all of it in that world.
    pub(super) fn replay(&self, world: u64) -> Replayed {
        // A thread has caches, such as the keys of its hash maps, that only a fresh one fills anew.
        apart(|| self.replay_here(world))
    }

    /// Replays it twice on one thread: what its thread-locals remember is another the second time, as it is on
    /// the threads of a runtime.
    pub(super) fn replay_twice(&self, world: u64) -> Replayed {
        apart(|| {
            let first = self.replay_here(world);
            if first.diverged.is_some() {
                return first;
            }
            let mut second = self.replay_here(world);
            if let Some(diverged) = &mut second.diverged {
                diverged.on_a_used_thread = true;
            }
            second.touched.splice(0..0, first.touched);
            second
        })
    }

    fn replay_here(&self, world: u64) -> Replayed {
        let mut touched = Vec::new();
        // A replay draws nothing.
        let entropy = Box::new(|| 0);
        let mut machine = Machine::new(
            self.definition,
            &Arc::from(crate::history::TEST_ARTIFACT),
            entropy,
        );
        for (at, unit) in self.units.iter().enumerate() {
            let mut told = None;
            let calls = watched(World::Changed(world), || {
                told = Some(machine.replay_told(unit.clone()));
            });
            let difference = match told {
                Some(Ok((timers, scheduled))) => self.differs(at, &timers, &scheduled),
                Some(Err(blocked)) => {
                    let following = &self.units[at + 1..];
                    Some(Differs::Blocked(blocked.look_ahead(following)))
                }
                None => None,
            };
            touched.extend(calls.into_iter().map(|call| (at, call)));
            if let Some(difference) = difference {
                let diverged = Some(self.diverged(at, difference, &touched));
                return Replayed { diverged, touched };
            }
        }
        Replayed {
            diverged: None,
            touched,
        }
    }

    /// Compares what a runtime's replay does not.
    fn differs(&self, at: usize, timers: &[Decision], scheduled: &[Scheduled]) -> Option<Differs> {
        let unit = &self.units[at];
        let recorded = unit.decisions.iter().enumerate();
        let mut timers = timers.iter();
        let mut pairs = self.scheduled[at].iter().zip(scheduled);
        for (place, first) in recorded {
            let (first, second) = match first {
                Decision::TimerStarted { .. } => {
                    let second = timers.next()?;
                    (deadline(first), deadline(second))
                }
                Decision::ActivityScheduled { .. } => {
                    let (options, other) = pairs.next()?;
                    (optioned(first, options), optioned(first, other))
                }
                _ => continue,
            };
            if (&first.what, &first.value) != (&second.what, &second.value) {
                let event = unit.number + 1 + place as u64;
                return Some(Differs::At {
                    event,
                    first: Box::new(first),
                    second: Box::new(second),
                });
            }
        }
        None
    }

    /// What a replay has found that was not watched unit by unit.
    pub(super) fn stopped(&self, at: usize, blocked: Blocked) -> Diverged {
        self.diverged(at, Differs::Blocked(blocked), &[])
    }

    fn diverged(&self, at: usize, difference: Differs, touched: &[(usize, Touched)]) -> Diverged {
        let unit = &self.units[at];
        let (event, first, second, blocked) = match difference {
            Differs::At {
                event,
                first,
                second,
            } => (event, Some(*first), Some(*second), None),
            Differs::Blocked(Blocked::Incompatible(error))
                if error.recorded.is_some() || error.asked.is_some() =>
            {
                (error.event, error.recorded, error.asked, None)
            }
            Differs::Blocked(blocked) => (unit.number + 1, None, None, Some(blocked)),
        };
        let value = |side: &Option<Side>| side.as_ref().and_then(|side| side.value.clone());
        let same = |a: &Option<Side>, b: &Option<Side>| match (a, b) {
            (Some(a), Some(b)) => a.what == b.what,
            _ => false,
        };
        let difference = match (value(&first), value(&second)) {
            (Some(a), Some(b)) if same(&first, &second) => a.difference(&b),
            _ => None,
        };
        let (causes, touched_after) = self.causes(at, touched);
        Diverged {
            run: self.run.clone(),
            workflow: self.definition.name.to_owned(),
            event,
            after: after(unit),
            first,
            second,
            difference,
            blocked,
            changed: changed(),
            on_a_used_thread: false,
            touched: causes,
            touched_after,
        }
    }

    /// What the code asked the operating system for last, up to that unit, in whichever of the two
    /// executions: one of that is the likely cause. And the unit's number.
    fn causes(&self, at: usize, replayed: &[(usize, Touched)]) -> (Vec<Touched>, u64) {
        for at in (0..=at).rev() {
            let mut causes = self.touched[at].clone();
            for (_, touched) in replayed.iter().filter(|(unit, _)| *unit == at) {
                if !causes.contains(touched) {
                    causes.push(touched.clone());
                }
            }
            if !causes.is_empty() {
                return (causes, self.units[at].number);
            }
        }
        (Vec::new(), self.units[at].number)
    }
}

enum Differs {
    At {
        event: u64,
        first: Box<Side>,
        second: Box<Side>,
    },
    Blocked(Blocked),
}

/// Does it on a fresh thread.
fn apart(what: impl FnOnce() -> Replayed + Send) -> Replayed {
    let apart = std::thread::scope(|scope| scope.spawn(what).join());
    apart.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}

/// Runs `code` in `world`, where a sandbox is linked, and gives what it asked for.
pub(super) fn watched(world: World, mut code: impl FnMut()) -> Vec<Touched> {
    match sandbox() {
        Some(sandbox) => sandbox.watch(world, &mut code),
        None => {
            code();
            Vec::new()
        }
    }
}

/// A timer with its deadline.
fn deadline(timer: &Decision) -> Side {
    let mut side = Side::of(timer);
    if let Decision::TimerStarted { deadline, .. } = timer {
        side.what = format!("sleep until {deadline}");
    }
    side
}

/// An activity with its options.
fn optioned(activity: &Decision, scheduled: &Scheduled) -> Side {
    let mut side = Side::of(activity);
    side.what += " with the options";
    side.value = Value::encode(&scheduled.options).ok();
    side
}

/// The unit's observation, for people.
fn after(unit: &Unit) -> String {
    let what = match &unit.observation {
        Observation::Started(_) => "started".to_owned(),
        Observation::ActivityCompleted { operation, .. } => format!("completed ~{operation}"),
        Observation::ActivityFailed { operation, .. } => format!("failed ~{operation}"),
        Observation::TimerFired { operation } => format!("fired ~{operation}"),
        Observation::MessageArrived(told) => format!("message {}", told.name.escape_debug()),
        Observation::SignalArrived(told) => format!("signal {}", told.name.escape_debug()),
        Observation::StubFulfilled { operation, .. } => format!("fulfilled ~{operation}"),
        Observation::UpdateAccepted { name, .. } => format!("update {}", name.escape_debug()),
        Observation::SlotFilled { operation, result } => match result {
            SlotResult::Sent(_) => format!("sent ~{operation}"),
            SlotResult::NotSent(_) => format!("not sent ~{operation}"),
            SlotResult::Fulfilled(_) => format!("delivered ~{operation}"),
            SlotResult::NotFulfilled(_) => format!("refused ~{operation}"),
        },
        Observation::Migrated(_) => "migrated".to_owned(),
    };
    format!("event {} ({what})", unit.number)
}
