//! The truth: where a mutant decides something else than the original, without any replay.

use std::collections::{BTreeMap, BTreeSet};

use perennial::history::{Decision, RecordSource};
use perennial::machine::Machine;
use perennial::value::Value;

use crate::marked::{self, MarkerCall};
use crate::protocol::Differs;
use crate::run::{Mutant, Recorded, event, summary};

impl Recorded {
    /// Runs a mutant as if nothing was recorded, in the world that the original had, until it decides something
    /// else. Nothing of a replay is in this.
    pub fn truth(&self, mutant: &Mutant) -> Option<Differs> {
        let Some(oracle) = mutant.oracle else {
            let machine = self.begun(mutant.definition, 0);
            return self.differs(machine, 0, mutant).map(|found| found.0);
        };
        let mut versions = BTreeMap::<String, Vec<u32>>::new();
        for decision in self.units.iter().flat_map(|unit| &unit.decisions) {
            if let Decision::Marker { id, version, .. } = decision {
                versions.entry(id.to_string()).or_default().push(*version);
            }
        }
        let mut without = BTreeSet::new();
        loop {
            marked::begin(versions.clone(), without.clone());
            let (differs, call) = self.differs(self.begun(oracle, 0), 0, mutant)?;
            match call {
                // The history has something else where it is asked for, so it is version 0 there.
                Some(call) if without.insert(call.clone()) => {}
                _ => return Some(differs),
            }
        }
    }

    /// Where the decisions differ first, from unit `first` on, at which the machine stands; and which call of a marker
    /// that is, where the history does not have the marker in the rest of the unit.
    pub fn differs(
        &self,
        mut machine: Machine,
        first: usize,
        mutant: &Mutant,
    ) -> Option<(Differs, Option<MarkerCall>)> {
        for (number, unit) in self.units.iter().enumerate().skip(first) {
            let differs = |event, what| Differs {
                unit: number,
                event,
                what,
            };
            let step = match machine.observe(unit.observation.clone(), unit.at, unit.at) {
                Ok(step) => step,
                Err(blocked) => return Some((differs(event(&blocked), summary(&blocked)), None)),
            };
            let retired = |decision: &Decision| match decision {
                Decision::Marker { id, version, .. } => mutant.retired.contains(&(&**id, *version)),
                _ => false,
            };
            let recorded = (unit.number + 1..).zip(&unit.decisions);
            let recorded: Vec<_> = recorded
                .filter(|(_, decision)| !retired(decision))
                .map(|(event, decision)| (event, tell(decision)))
                .collect();
            let decided: Vec<_> = step.unit.decisions.iter().map(tell).collect();
            let same = recorded
                .iter()
                .zip(&decided)
                .take_while(|((_, a), b)| a == *b);
            let at = same.count();
            if at == recorded.len().max(decided.len()) {
                continue;
            }
            let recorded_at = recorded.get(at).map_or("nothing", |(_, what)| what);
            let decided_at = decided.get(at).map_or("nothing", String::as_str);
            let event = recorded
                .get(at)
                .map_or(unit.last() + 1, |(event, _)| *event);
            let call = step.unit.decisions.get(at).and_then(marker_call);
            let call = call.filter(|(id, _)| {
                let marker = format!("marker {id} ");
                !recorded[at..]
                    .iter()
                    .any(|(_, what)| what.starts_with(&marker))
            });
            return Some((
                differs(event, format!("{recorded_at} -> {decided_at}")),
                call,
            ));
        }
        None
    }
}

/// A decision by which `marked` says which marker was asked for: id, version and call.
fn pseudo(decision: &Decision) -> Option<(&str, &str, &str)> {
    let Decision::Recorded {
        source: RecordSource::Named(name),
        ..
    } = decision
    else {
        return None;
    };
    let mut parts = name.strip_prefix("marker/")?.split('/');
    Some((parts.next()?, parts.next()?, parts.next()?))
}

/// The call of a marker that the history has to have there.
fn marker_call(decision: &Decision) -> Option<MarkerCall> {
    let (id, _, call) = pseudo(decision)?;
    let call = call.parse().ok().filter(|call| *call > 0)?;
    Some((id.to_owned(), call))
}

/// What is compared of a decision (S9).
fn tell(decision: &Decision) -> String {
    if let Some((id, version, _)) = pseudo(decision) {
        return format!("marker {id} {version}");
    }
    match decision {
        Decision::ActivityScheduled {
            operation,
            name,
            input,
            ..
        } => format!("{name} ~{operation} {}", plain(input)),
        Decision::TimerStarted { operation, .. } => format!("sleep ~{operation}"),
        Decision::ReceiveStarted {
            operation,
            channel,
            name,
            ..
        } => format!("{channel:?} {name} ~{operation}"),
        Decision::Received {
            operation, number, ..
        } => format!("took ~{operation} #{number}"),
        Decision::StubOffered {
            operation,
            name,
            input,
            ..
        } => format!("stub {name} ~{operation} {}", plain(input)),
        Decision::SendRequested {
            operation,
            run,
            channel,
            name,
            payload,
            ..
        } => format!(
            "send {channel:?} {name} ~{operation} to {run} {}",
            plain(payload)
        ),
        Decision::FulfilRequested {
            operation,
            reference,
            stub,
            value,
            ..
        } => format!("fulfil {stub} ~{operation} {reference} {}", plain(value)),
        Decision::Emitted {
            stream,
            number,
            value,
            ..
        } => format!("emit {stream} #{number} {}", plain(value)),
        Decision::Recorded { source, .. } => format!("{source:?}"),
        Decision::Marker { id, version, .. } => format!("marker {id} {version}"),
        Decision::Dropped { operation } => format!("drop ~{operation}"),
        Decision::Completed { value, .. } => format!("completed {}", plain(value)),
        Decision::Failed { error, .. } => format!("failed {}", plain(error)),
        other => format!("{other:?}"),
    }
}

/// A value in one form: without members that are null, and those of objects in order (S10).
fn plain(value: &Value) -> serde_json::Value {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                members.retain(|_, member| !member.is_null());
                members.values_mut().for_each(strip);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(value.as_json()).unwrap_or_default();
    strip(&mut value);
    value
}
