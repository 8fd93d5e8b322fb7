//! What must hold at the end of a story, whatever happened in it.

use std::collections::{BTreeMap, BTreeSet};

use perennial::history::{Channel, Decision, Observation, Told, Unit};
use perennial::{RunKey, Timestamp};

use super::plan::Taken;
use super::story::RUNS;
use super::world::World;
use crate::store::Store;

pub(super) fn history(store: &dyn Store, run: &RunKey) -> Result<Vec<Unit>, String> {
    let units = store.history(run, 1, 1, usize::MAX);
    units.map_err(|error| error.to_string())
}

/// The error is what does not hold.
pub(super) fn judge(world: &World<'_>) -> Result<(), String> {
    for run in 0..RUNS {
        let key = World::key(run)?;
        let units = history(&*world.store, &key)?;
        for (_, before) in world.before.iter().filter(|(of, _)| *of == run) {
            if !units.starts_with(before) {
                return Err(format!(
                    "what was durable of run {run} is not what it has now"
                ));
            }
        }
        let mut told = Model::default();
        for unit in &units {
            told.unit(unit)
                .map_err(|problem| format!("run {run}: {problem}"))?;
        }
        let loaded = world.store.load(&key).map_err(|error| error.to_string())?;
        for row in loaded.into_iter().flat_map(|loaded| loaded.queue) {
            if let Observation::MessageArrived(message) = &row.observation {
                told.arrive(message)?;
            }
        }
        sends(world, run, &told.arrived)?;
    }
    Ok(())
}

/// What was acknowledged is there once, under its number; what was refused is not; of what nobody knows there is at most
/// one.
fn sends(world: &World<'_>, run: usize, arrived: &BTreeMap<u64, Told>) -> Result<(), String> {
    let mut numbers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for told in arrived.values() {
        let payload = told.payload.as_json().to_owned();
        numbers.entry(payload).or_default().push(told.number);
    }
    for send in world.sends.iter().filter(|send| send.run == run) {
        let value = send.value;
        let there = numbers.remove(&value.to_string()).unwrap_or_default();
        match (send.receipt, there.as_slice()) {
            (Some(number), [there]) if number == *there => {}
            (None, [_]) if !send.is_refused() => {}
            (None, []) => {}
            (Some(number), there) => {
                return Err(format!(
                    "run {run}: the message {value} has the receipt {number}, and it is there as {there:?}"
                ));
            }
            (None, there) => {
                return Err(format!(
                    "run {run}: the message {value} has no receipt, and it is there as {there:?}"
                ));
            }
        }
    }
    match numbers.keys().next() {
        None => Ok(()),
        Some(value) => Err(format!("run {run}: nobody has sent {value}")),
    }
}

/// What an inbox is, in few words; a history is held against it.
#[derive(Default)]
struct Model {
    now: Timestamp,
    arrived: BTreeMap<u64, Told>,
    /// Numbers that were not taken, by name.
    pending: BTreeMap<String, BTreeSet<u64>>,
    waits: BTreeMap<u64, String>,
    timers: BTreeMap<u64, Timestamp>,
    taken: BTreeSet<Taken>,
    /// A wait or a timer was dropped.
    dropped: bool,
}

impl Model {
    fn arrive(&mut self, told: &Told) -> Result<(), String> {
        if self
            .arrived
            .keys()
            .next_back()
            .is_some_and(|last| *last >= told.number)
        {
            return Err(format!("number {} came after a greater one", told.number));
        }
        self.arrived.insert(told.number, told.clone());
        let pending = self.pending.entry(told.name.clone()).or_default();
        pending.insert(told.number);
        Ok(())
    }

    fn unit(&mut self, unit: &Unit) -> Result<(), String> {
        if unit.at < self.now {
            return Err(format!("time goes back at event {}", unit.number));
        }
        self.now = unit.at;
        match &unit.observation {
            Observation::MessageArrived(told) => self.arrive(told)?,
            Observation::TimerFired { operation } => match self.timers.remove(operation) {
                Some(deadline) if unit.at < deadline => {
                    return Err(format!("timer {operation} is early"));
                }
                Some(_) => {}
                None => return Err(format!("timer {operation} fires, and there is none")),
            },
            Observation::SignalArrived(_) => return Err("a signal was told to nobody".into()),
            _ => {}
        }
        unit.decisions
            .iter()
            .try_for_each(|decision| self.decision(decision))
    }

    fn decision(&mut self, decision: &Decision) -> Result<(), String> {
        match decision {
            Decision::TimerStarted {
                operation,
                deadline,
                ..
            } => drop(self.timers.insert(*operation, *deadline)),
            Decision::ReceiveStarted {
                operation,
                channel: Channel::Message,
                name,
                ..
            } => drop(self.waits.insert(*operation, name.to_string())),
            Decision::Received {
                operation, number, ..
            } => self.received(*operation, *number)?,
            Decision::Dropped { operation } => {
                self.timers.remove(operation);
                self.waits.remove(operation);
                self.dropped = true;
            }
            Decision::Completed { value, .. } => {
                // What one side of a `join!` has taken is lost with it where that is dropped before the other side has.
                let result: BTreeSet<Taken> = value.decode().map_err(|error| error.to_string())?;
                if !result.is_subset(&self.taken) || (!self.dropped && result != self.taken) {
                    return Err(format!(
                        "it returned {result:?}, and has taken {:?}",
                        self.taken
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn received(&mut self, operation: u64, number: u64) -> Result<(), String> {
        let name = self.waits.remove(&operation);
        let name = name.ok_or_else(|| format!("wait {operation} takes twice, or is none"))?;
        let pending = self.pending.entry(name).or_default();
        let next = pending.pop_first();
        if next != Some(number) {
            return Err(format!(
                "wait {operation} took {number}, and {next:?} was next"
            ));
        }
        let told = &self.arrived[&number];
        self.taken
            .insert(told.payload.decode().map_err(|error| error.to_string())?);
        Ok(())
    }
}
