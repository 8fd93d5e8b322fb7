//! How thoroughly a stored history is replayed: the first of each kind in many worlds, the others in one.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::thread;

use super::misfit::Unfit;
use super::replay::{AT_THE_END, Recording, watched};
use super::sandbox::World;
use crate::history::{Decision, History, Observation, RecordSource, SlotResult};
use crate::machine::Machine;
use crate::{Blocked, WorkflowDefinition};

/// So many histories of a kind are replayed in all worlds.
const EACH_KIND: usize = 4;
/// At most so many of a workflow.
const EACH_WORKFLOW: usize = 32;

/// Which histories are replayed in all worlds.
#[derive(Debug, Default)]
pub(super) struct Sample {
    of_workflow: HashMap<&'static str, usize>,
    of_kind: HashMap<(&'static str, u64), usize>,
}

impl Sample {
    /// Whether this one is.
    pub(super) fn takes(&mut self, workflow: &'static str, history: &History) -> bool {
        let taken = self.of_workflow.entry(workflow).or_default();
        if *taken >= EACH_WORKFLOW {
            return false;
        }
        let of_kind = self.of_kind.entry((workflow, kind(history))).or_default();
        if *of_kind >= EACH_KIND {
            return false;
        }
        *of_kind += 1;
        *taken += 1;
        true
    }
}

/// The kinds and names of the events, as a digest.
fn kind(history: &History) -> u64 {
    let mut kinds = BTreeSet::new();
    for unit in &history.units {
        kinds.insert(match &unit.observation {
            Observation::Started(_) => ("started", "", 0),
            Observation::ActivityCompleted { .. } => ("completed", "", 0),
            Observation::ActivityFailed { failure, .. } => (failure_kind(failure), "", 0),
            Observation::TimerFired { .. } => ("fired", "", 0),
            Observation::MessageArrived(told) => ("message", &*told.name, 0),
            Observation::SignalArrived(told) => ("signal", &*told.name, 0),
            Observation::StubFulfilled { .. } => ("fulfilled", "", 0),
            Observation::UpdateAccepted { name, .. } => ("update", &**name, 0),
            Observation::SlotFilled { result, .. } => match result {
                SlotResult::Sent(_) => ("sent", "", 0),
                SlotResult::NotSent(_) => ("not sent", "", 0),
                SlotResult::Fulfilled(_) => ("delivered", "", 0),
                SlotResult::NotFulfilled(_) => ("refused", "", 0),
            },
            Observation::Migrated(_) => ("migrated", "", 0),
        });
        kinds.extend(unit.decisions.iter().map(|decision| match decision {
            Decision::ActivityScheduled { name, .. } => ("activity", &**name, 0),
            Decision::TimerStarted { .. } => ("sleep", "", 0),
            Decision::ReceiveStarted { name, .. } => ("receive", &**name, 0),
            Decision::SendRequested { name, .. } => ("send", &**name, 0),
            Decision::FulfilRequested { stub, .. } => ("fulfil", &**stub, 0),
            Decision::Received { invalid, .. } => ("took", "", invalid.is_some().into()),
            Decision::StubOffered { name, .. } => ("stub", &**name, 0),
            Decision::StubInvalid { .. } => ("invalid", "", 0),
            Decision::Recorded { source, .. } => match source {
                RecordSource::Random => ("random", "", 0),
                RecordSource::Uuid => ("uuid", "", 0),
                RecordSource::Named(name) => ("recorded", &**name, 0),
            },
            Decision::Emitted { stream, .. } => ("emitted", &**stream, 0),
            Decision::UpdateAnswered { .. } => ("answered", "", 0),
            Decision::Marker { id, version, .. } => ("marker", &**id, *version),
            Decision::SetClosed { name, .. } => ("closed", &**name, 0),
            Decision::Dropped { .. } => ("dropped", "", 0),
            Decision::Completed { .. } => ("result", "", 0),
            Decision::Failed { .. } => ("error", "", 0),
        }));
    }
    let mut hasher = DefaultHasher::new();
    kinds.hash(&mut hasher);
    hasher.finish()
}

fn failure_kind(failure: &crate::history::ActivityFailure) -> &'static str {
    use crate::history::ActivityFailure as Failure;
    match failure {
        Failure::Rejected { .. } => "rejected",
        Failure::RetriesExhausted { .. } => "exhausted",
        Failure::TimedOut => "timed out",
        Failure::Cancelled => "cancelled",
        Failure::TooLarge { .. } => "too large",
    }
}

/// Replays a history, and where it fits again in all changed worlds, as a run of a test is at its end. `true`: the
/// run had ended.
pub(super) fn replay(definition: WorkflowDefinition, history: &History) -> Result<bool, Unfit> {
    let (finished, _) = in_all_worlds(definition, history)?;
    Ok(finished)
}

fn in_all_worlds(
    definition: WorkflowDefinition,
    history: &History,
) -> Result<(bool, Recording), Unfit> {
    let (finished, recording) = apart(|| fit(definition, history)).map_err(Unfit::Blocked)?;
    let mut replayed = (1..=AT_THE_END).map(|world| match world {
        1 => recording.replay_twice(world),
        _ => recording.replay(world),
    });
    match replayed.find_map(|replayed| replayed.diverged) {
        Some(diverged) => Err(Unfit::Diverged(Box::new(diverged))),
        None => Ok((finished, recording)),
    }
}

/// Replays a history in one changed world, and where it does not fit there as [`replay`] does. `turn` counts the
/// histories, so that each has another world than the one before.
pub(super) fn replay_once(
    definition: WorkflowDefinition,
    history: &History,
    turn: u64,
) -> Result<bool, Unfit> {
    let world = 1 + turn % AT_THE_END;
    let (at, blocked) = match apart(|| fit_in(definition, history, world)) {
        Ok(finished) => return Ok(finished),
        Err(stopped) => stopped,
    };
    // It does not fit anywhere, or not in another world, which that one says exactly; or it does in all of those.
    let (_, recording) = in_all_worlds(definition, history)?;
    let diverged = recording.stopped(at, blocked);
    Err(Unfit::Diverged(Box::new(diverged)))
}

/// Replays a history in that world; else the place of the unit at which that ends, and why.
fn fit_in(
    definition: WorkflowDefinition,
    history: &History,
    world: u64,
) -> Result<bool, (usize, Blocked)> {
    let mut machine = Machine::new(definition, &"".into(), Box::new(|| 0));
    let mut stopped = None;
    watched(World::Changed(world), || {
        for (at, unit) in history.units.iter().enumerate() {
            if let Err(blocked) = machine.replay(unit.clone()) {
                stopped = Some((at, blocked.look_ahead(&history.units[at + 1..])));
                return;
            }
        }
    });
    match stopped {
        None => Ok(machine.is_finished()),
        Some(stopped) => Err(stopped),
    }
}

/// Replays a history in the world as it is, and notes what the code asks for where that is not compared with
/// the history: deadlines of timers and options of activities may change, but not from one world to another.
fn fit(definition: WorkflowDefinition, history: &History) -> Result<(bool, Recording), Blocked> {
    // A replay draws nothing.
    let mut machine = Machine::new(definition, &"".into(), Box::new(|| 0));
    let mut recording = Recording::new(history.run.to_string(), definition);
    for (at, unit) in history.units.iter().enumerate() {
        let mut unit = unit.clone();
        let (timers, scheduled) = machine
            .replay_told(unit.clone())
            .map_err(|blocked| blocked.look_ahead(&history.units[at + 1..]))?;
        let recorded = unit.decisions.iter_mut();
        let recorded = recorded.filter(|made| matches!(made, Decision::TimerStarted { .. }));
        for (recorded, asked) in recorded.zip(timers) {
            *recorded = asked;
        }
        recording.units.push(unit);
        recording.scheduled.push(scheduled);
        recording.touched.push(Vec::new());
    }
    Ok((machine.is_finished(), recording))
}

/// Runs `code` on a thread of its own: hash maps have other keys there.
fn apart<T: Send>(code: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match scope.spawn(code).join() {
        Ok(result) => result,
        Err(payload) => std::panic::resume_unwind(payload),
    })
}
