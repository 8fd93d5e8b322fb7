//! What a run is, in few words: its history is held against it, one unit after the other.

use std::collections::{BTreeMap, BTreeSet};

use perennial::history::{Channel, Decision, Observation, SlotResult, Told, Unit};
use perennial::value::Value;
use perennial::{RunId, Timestamp};

use super::super::watch::inject;
use super::plan::{Taken, review};

/// What a run has sent.
pub(super) struct Sent {
    pub(super) to: RunId,
    pub(super) payload: Value,
    /// What it was told of that. Nothing, where it has ended with it.
    pub(super) result: Option<SlotResult>,
}

/// What the run waits for from outside.
struct Asked {
    stub: String,
    state: Standing,
}

/// What has become of an offer, as the history has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Open,
    Fulfilled,
    Dropped,
}

/// See the module.
#[derive(Default)]
pub(super) struct Model {
    now: Timestamp,
    pub(super) arrived: BTreeMap<u64, Told>,
    /// Numbers that were not taken, by name.
    pending: BTreeMap<String, BTreeSet<u64>>,
    waits: BTreeMap<u64, String>,
    timers: BTreeMap<u64, Timestamp>,
    taken: BTreeSet<Taken>,
    /// A wait or a timer was dropped.
    dropped: bool,
    offers: BTreeMap<u64, Asked>,
    /// What was given for offers.
    pub(super) values: BTreeMap<u64, Value>,
    mail: Vec<Taken>,
    /// By the operation.
    pub(super) sent: BTreeMap<u64, Sent>,
    /// Items by their streams.
    pub(super) items: BTreeMap<String, Vec<String>>,
    pub(super) ended: bool,
}

impl Model {
    /// A message is in the run's history or queue.
    pub(super) fn arrive(&mut self, told: &Told) -> Result<(), String> {
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

    /// A value for an offer is in the run's history or queue.
    pub(super) fn give(&mut self, operation: u64, value: &Value) -> Result<(), String> {
        if self.values.insert(operation, value.clone()).is_some() {
            return Err(format!("operation {operation} is given two values"));
        }
        Ok(())
    }

    /// What has become of an offer that was made.
    pub(super) fn standing(&self, operation: u64) -> Option<Standing> {
        let given = self.values.contains_key(&operation);
        let asked = self.offers.get(&operation)?;
        // What is in the queue counts, whatever becomes of the wait.
        Some(if given {
            Standing::Fulfilled
        } else {
            asked.state
        })
    }

    pub(super) fn offers(&self) -> impl Iterator<Item = u64> {
        self.offers.keys().copied()
    }

    pub(super) fn unit(&mut self, unit: &Unit) -> Result<(), String> {
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
            Observation::StubFulfilled {
                operation, value, ..
            } => {
                self.give(*operation, value)?;
                self.fulfilled(*operation, value)?;
            }
            Observation::SlotFilled { operation, result } => {
                let sent = self.sent.get_mut(operation);
                let sent = sent.ok_or_else(|| format!("operation {operation} sends nothing"))?;
                if sent.result.replace(result.clone()).is_some() {
                    return Err(format!("operation {operation} was told twice what it sent"));
                }
            }
            _ => {}
        }
        unit.decisions
            .iter()
            .try_for_each(|decision| self.decision(decision))
    }

    /// The run is told a value.
    fn fulfilled(&mut self, operation: u64, value: &Value) -> Result<(), String> {
        let value = value.decode().map_err(|error| error.to_string())?;
        let asked = self.offers.get_mut(&operation);
        let asked = asked.ok_or_else(|| format!("operation {operation} is no offer"))?;
        match std::mem::replace(&mut asked.state, Standing::Fulfilled) {
            Standing::Open => {}
            // It was in the queue when the run let go of the offer, and nobody waits for it (S12).
            Standing::Dropped => return Ok(()),
            Standing::Fulfilled => {
                return Err(format!("operation {operation} is told a value twice"));
            }
        }
        match asked.stub.as_str() {
            inject::NAME => self.mail.push(value),
            review::NAME => drop(self.taken.insert(value)),
            _ => {}
        }
        Ok(())
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
            Decision::StubOffered {
                operation, name, ..
            } => {
                let asked = Asked {
                    stub: name.to_string(),
                    state: Standing::Open,
                };
                self.offers.insert(*operation, asked);
            }
            Decision::SendRequested {
                operation,
                run,
                payload,
                ..
            } => {
                let sent = Sent {
                    to: run.clone(),
                    payload: payload.clone(),
                    result: None,
                };
                self.sent.insert(*operation, sent);
            }
            Decision::Emitted {
                stream,
                number,
                value,
                ..
            } => {
                let items = self.items.entry(stream.to_string()).or_default();
                items.push(value.to_string());
                if items.len() as u64 != *number {
                    return Err(format!("stream {stream} has {items:?}, and then {number}"));
                }
            }
            Decision::Dropped { operation } => {
                self.timers.remove(operation);
                self.waits.remove(operation);
                if let Some(asked) = self.offers.get_mut(operation) {
                    asked.state = Standing::Dropped;
                }
                self.dropped = true;
            }
            Decision::Completed { value, .. } => {
                self.ended = true;
                self.returned(value)?;
            }
            Decision::Failed { error, .. } => return Err(format!("it has failed: {error}")),
            _ => {}
        }
        Ok(())
    }

    fn returned(&self, value: &Value) -> Result<(), String> {
        let (taken, mail): (BTreeSet<Taken>, Vec<Taken>) =
            value.decode().map_err(|error| error.to_string())?;
        // What one side of a `join!` has taken is lost with it where that is dropped before the other side has.
        if !taken.is_subset(&self.taken) || (!self.dropped && taken != self.taken) {
            return Err(format!(
                "it returned {taken:?}, and has taken {:?}",
                self.taken
            ));
        }
        // What it does not take stays in the mailbox.
        if !self.mail.starts_with(&mail) {
            return Err(format!(
                "it returned the mail {mail:?}, and {:?} came",
                self.mail
            ));
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
