//! What has come of a scenario: everything that somebody can see of it, and that must not depend on where a process
//! ended. Numbers of events and arrivals and times are no part of it.

use std::collections::{BTreeMap, BTreeSet};

use perennial::RunKey;
use perennial::history::{Decision, Observation, SlotResult, Unit};

use super::super::watch::text;
use crate::store::{Head, OfferState, Store, told};

/// One line for each thing, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome(Vec<String>);

impl Outcome {
    /// `effects`: what happened in the world.
    pub(super) fn of(
        store: &dyn Store,
        runs: &BTreeSet<RunKey>,
        effects: Vec<String>,
    ) -> Result<Self, String> {
        let mut lines = effects;
        for run in runs {
            let head = store.head(run).map_err(text)?;
            let head = head.ok_or_else(|| format!("{run} is not there"))?;
            let seen = Seen { store, run, head };
            lines.extend(
                seen.lines()?
                    .into_iter()
                    .map(|line| format!("{run} {line}")),
            );
        }
        Ok(Self(lines))
    }

    /// The error is where it is not what is expected.
    pub(super) fn check(&self, expected: &Self) -> Result<(), String> {
        if self == expected {
            return Ok(());
        }
        let without = |these: &Self, others: &Self, sign: char| {
            let only = these.0.iter().filter(|line| !others.0.contains(line));
            only.map(|line| format!("  {sign} {line}\n"))
                .collect::<String>()
        };
        let (missing, new) = (without(expected, self, '-'), without(self, expected, '+'));
        if missing.is_empty() && new.is_empty() {
            return Err(format!("it comes in another order: {:#?}", self.0));
        }
        let all = format!("it is not what it is elsewhere:\n{missing}{new}");
        Err(all.trim_end().to_owned())
    }
}

/// What is stored of a run.
struct Seen<'a> {
    store: &'a dyn Store,
    run: &'a RunKey,
    head: Head,
}

impl Seen<'_> {
    fn lines(&self) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        let units = self.store.history(self.run, 1, 1, usize::MAX);
        let units = units.map_err(text)?;
        if !units.is_sorted_by_key(|unit| unit.at) {
            return Err(format!("time goes back in the history of {}", self.run));
        }
        history(&units, &mut lines);
        self.offers(&mut lines)?;
        self.streams(&mut lines)?;
        for view in self.store.views(self.run).map_err(text)? {
            lines.push(format!("shows {} as {}", view.name, view.value));
        }
        self.rest(&mut lines)?;
        Ok(lines)
    }

    fn offers(&self, lines: &mut Vec<String>) -> Result<(), String> {
        let offers = self.store.offers(self.run, 0, usize::MAX).map_err(text)?;
        for offer in offers {
            let state = match offer.state {
                OfferState::Open => return Err(format!("an offer of {} is open", self.run)),
                OfferState::Fulfilled { digest, .. } => format!("fulfilled with {digest}"),
                OfferState::Closed { .. } => "closed".to_owned(),
            };
            lines.push(format!("has offered {}, and that is {state}", offer.name));
        }
        Ok(())
    }

    fn streams(&self, lines: &mut Vec<String>) -> Result<(), String> {
        for range in &self.head.streams {
            let name = &range.name;
            let items = self.store.stream(self.run, name, 0, usize::MAX);
            for item in items.map_err(text)? {
                let (number, value) = (item.number, item.value);
                lines.push(format!("gave out {name} {number}: {value}"));
            }
        }
        Ok(())
    }

    /// What it has left behind.
    fn rest(&self, lines: &mut Vec<String>) -> Result<(), String> {
        let loaded = self.store.load(self.run).map_err(text)?;
        let loaded = loaded.ok_or("it is gone")?;
        if !loaded.tasks.is_empty() || !loaded.timers.is_empty() {
            return Err(format!("{} has ended, and has more to do", self.run));
        }
        for row in &loaded.queue {
            match told(&row.observation) {
                Some((_, told)) => {
                    lines.push(format!("has not read {} {}", told.name, told.payload));
                }
                None => return Err(format!("{} has not seen {row:?}", self.run)),
            }
        }
        Ok(())
    }
}

/// What it was told and has taken, in that order; what became of its activities, by their operations; and its end.
fn history(units: &[Unit], lines: &mut Vec<String>) {
    let (mut names, mut said) = (BTreeMap::new(), BTreeMap::new());
    let mut settled = BTreeMap::new();
    let mut took = Vec::new();
    for unit in units {
        match &unit.observation {
            Observation::MessageArrived(told) | Observation::SignalArrived(told) => {
                said.insert(told.number, told.payload.to_string());
            }
            Observation::ActivityCompleted { operation, result } => {
                settled.insert(*operation, format!("completed {result}"));
            }
            Observation::ActivityFailed { operation, failure } => {
                settled.insert(*operation, format!("failed {failure:?}"));
            }
            Observation::StubFulfilled { value, .. } => took.push(format!("was given {value}")),
            Observation::UpdateAccepted { name, input, .. } => {
                took.push(format!("was asked {name} {input}"));
            }
            Observation::SlotFilled { result, .. } => took.push(match result {
                SlotResult::Fulfilled(receipt) if receipt.duplicate => "gave it again".to_owned(),
                SlotResult::Fulfilled(_) => "gave it".to_owned(),
                SlotResult::NotFulfilled(failure) => format!("did not give it: {failure}"),
                SlotResult::Sent(receipt) if receipt.duplicate => "sent it again".to_owned(),
                SlotResult::Sent(_) => "sent it".to_owned(),
                result => format!("did not send it: {result:?}"),
            }),
            _ => {}
        }
        for decision in &unit.decisions {
            match decision {
                Decision::ReceiveStarted {
                    operation, name, ..
                } => drop(names.insert(*operation, name.to_string())),
                Decision::Received {
                    operation, number, ..
                } => {
                    let name = names.get(operation).map_or("", String::as_str);
                    let said = said.get(number).map_or("", String::as_str);
                    took.push(format!("took {name} {said}"));
                }
                Decision::SendRequested {
                    run, name, payload, ..
                } => took.push(format!("sends {name} {payload} to {run}")),
                Decision::FulfilRequested {
                    reference, value, ..
                } => took.push(format!("gives {value} to {reference}")),
                Decision::UpdateAnswered { value, .. } => took.push(format!("answers {value}")),
                Decision::Completed { value, .. } => took.push(format!("completed with {value}")),
                Decision::Failed { error, .. } => took.push(format!("failed with {error}")),
                _ => {}
            }
        }
    }
    let settled = settled.into_iter();
    lines.extend(settled.map(|(operation, how)| format!("~{operation} {how}")));
    lines.extend(took);
}
