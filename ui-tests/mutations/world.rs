//! The world in which an original records its runs: a clock, timers, activities that answer after a while, somebody
//! who sends messages and signals and answers what is offered, and other runs, of which `nobody` is not there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use perennial::history::{
    ActivityFailure, Channel, Decision, Observation, SEMANTICS, SlotResult, Started, Told, Unit,
};
use perennial::machine::Machine;
use perennial::value::Value;
use perennial::{Namespace, Receipt, RunId, SendFailure, Timestamp, WorkflowDefinition};

use crate::protocol::{Does, How, Run};
use crate::run::begun;
use crate::shop;

/// When each run begins.
const BEGIN: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// What an activity takes where its run does not say it.
const A_SECOND: u64 = 1_000;
/// A run that is not there.
const NOBODY: &str = "nobody";
/// No run has more units than that.
const MAX_UNITS: usize = 200;

/// The world of a run: a clock, timers, activities that answer after a while, and who sends it something.
pub struct World<'a> {
    answers: &'a BTreeMap<String, serde_json::Value>,
    run: &'a Run,
    timers: BTreeSet<(Timestamp, u64)>,
    /// What has been asked of activities, by when it is answered.
    open: BTreeMap<(Timestamp, u64), Observation>,
    calls: BTreeMap<String, usize>,
    /// How much of what it is told it has been told.
    told: usize,
    /// What it offers: operations, and the names of stubs.
    offers: Vec<(u64, String)>,
    /// What has come of what it tells other runs, which it is told before all else (S3).
    filled: VecDeque<Observation>,
    /// How much it has told them.
    numbers: u64,
}

impl<'a> World<'a> {
    pub fn new(answers: &'a BTreeMap<String, serde_json::Value>, run: &'a Run) -> Self {
        Self {
            told: 0,
            offers: Vec::new(),
            filled: VecDeque::new(),
            numbers: 0,
            answers,
            run,
            timers: BTreeSet::new(),
            open: BTreeMap::new(),
            calls: BTreeMap::new(),
        }
    }

    /// `then`: who goes on after half of the units that there are otherwise.
    pub fn record(
        self,
        definition: WorkflowDefinition,
        then: Option<WorkflowDefinition>,
        number: usize,
    ) -> Result<Vec<Unit>, String> {
        let Some(then) = then else {
            return self.record_until(definition, None, number);
        };
        let whole = Self::new(self.answers, self.run).record_until(definition, None, number)?;
        self.record_until(definition, Some((whole.len() / 2, then)), number)
    }

    fn record_until(
        mut self,
        definition: WorkflowDefinition,
        then: Option<(usize, WorkflowDefinition)>,
        number: usize,
    ) -> Result<Vec<Unit>, String> {
        let mut machine = begun(definition, "original", number, 0);
        let input = Value::encode(&self.run.input).map_err(|error| error.to_string())?;
        let started = Started {
            workflow: definition.name.to_owned(),
            input,
            semantics: SEMANTICS,
            artifact: "original".to_owned(),
            namespace: Namespace::default(),
            run: RunId::new(format!("run-{number}")).map_err(|error| error.to_string())?,
            generation: 1,
            first_operation: 1,
            version: definition.graph.version,
            migrated_from: None,
            streams: Vec::new(),
        };
        let mut next = Some((BEGIN, Observation::Started(started)));
        let mut units: Vec<Unit> = Vec::new();
        while let Some((at, observation)) = next {
            if let Some((_, then)) = then.filter(|(after, _)| *after == units.len()) {
                machine = begun(then, "original", number, 0);
                for unit in &units {
                    let replayed = machine.replay(unit.clone());
                    replayed.map_err(|blocked| blocked.to_string())?;
                }
            }
            let step = machine.observe(observation, at, at);
            let step = step.map_err(|blocked| blocked.to_string())?;
            for decision in &step.unit.decisions {
                self.carry_out(decision, at)?;
            }
            for (operation, deadline) in step.stopped_timers {
                self.timers.remove(&(deadline, operation));
            }
            units.push(step.unit);
            if step.finished {
                return Ok(units);
            }
            if units.len() > MAX_UNITS {
                return Err(format!("it has more than {MAX_UNITS} units"));
            }
            next = self.next(at, &machine)?;
        }
        Err("it waits for ever".to_owned())
    }

    /// What happens next, and when. Timers come first (S2), and a signal for which nothing waits is none (M54).
    fn next(
        &mut self,
        now: Timestamp,
        machine: &Machine,
    ) -> Result<Option<(Timestamp, Observation)>, String> {
        if let Some(filled) = self.filled.pop_front() {
            return Ok(Some((now, filled)));
        }
        loop {
            let timer = self.timers.first().map(|(at, _)| *at);
            let answer = self.open.first_key_value().map(|((at, _), _)| *at);
            let told = self.run.told.get(self.told);
            let told = told.map(|told| Timestamp::from_millis(BEGIN.as_millis() + told.after));
            let Some(first) = [timer, answer, told].into_iter().flatten().min() else {
                return Ok(None);
            };
            let at = first.max(now);
            if timer == Some(first) {
                let fired = self.timers.pop_first();
                return Ok(fired.map(|(_, operation)| (at, Observation::TimerFired { operation })));
            }
            if answer == Some(first) {
                let answered = self.open.pop_first();
                return Ok(answered.map(|(_, observation)| (at, observation)));
            }
            if let Some(observation) = self.tell(machine)? {
                return Ok(Some((at, observation)));
            }
        }
    }

    /// The next thing that the run is told.
    fn tell(&mut self, machine: &Machine) -> Result<Option<Observation>, String> {
        let told = &self.run.told[self.told];
        self.told += 1;
        let payload = Value::encode(&told.payload).map_err(|error| error.to_string())?;
        let arrived = |payload| Told {
            number: self.told as u64,
            name: told.name.clone(),
            payload,
            key: None,
        };
        Ok(match told.how {
            How::Message => Some(Observation::MessageArrived(arrived(payload))),
            How::Signal if machine.awaits(Channel::Signal, &told.name) => {
                Some(Observation::SignalArrived(arrived(payload)))
            }
            How::Signal => None,
            How::Value => {
                let mut offers = self.offers.iter();
                let oldest = offers.position(|(_, stub)| *stub == told.name);
                oldest.map(|oldest| Observation::StubFulfilled {
                    operation: self.offers.remove(oldest).0,
                    value: payload,
                    key: None,
                })
            }
        })
    }

    fn carry_out(&mut self, decision: &Decision, now: Timestamp) -> Result<(), String> {
        match decision {
            Decision::TimerStarted {
                operation,
                deadline,
                ..
            } => {
                self.timers.insert((*deadline, *operation));
            }
            Decision::ActivityScheduled {
                operation,
                name,
                input,
                ..
            } => {
                let (takes, observation) = self.answer(*operation, name, input)?;
                let at = Timestamp::from_millis(now.as_millis() + takes);
                self.open.insert((at, *operation), observation);
            }
            Decision::StubOffered {
                operation, name, ..
            } => self.offers.push((*operation, name.to_string())),
            Decision::Dropped { operation } => {
                self.offers.retain(|(offered, _)| offered != operation);
            }
            Decision::SendRequested { operation, run, .. } => {
                let result = match run.as_str() {
                    NOBODY => SlotResult::NotSent(SendFailure::RunNotFound { run: run.clone() }),
                    _ => SlotResult::Sent(self.receipt(now)),
                };
                let operation = *operation;
                self.filled
                    .push_back(Observation::SlotFilled { operation, result });
            }
            Decision::FulfilRequested { operation, .. } => {
                let result = SlotResult::Fulfilled(self.receipt(now));
                let operation = *operation;
                self.filled
                    .push_back(Observation::SlotFilled { operation, result });
            }
            _ => {}
        }
        Ok(())
    }

    fn receipt(&mut self, at: Timestamp) -> Receipt {
        self.numbers += 1;
        Receipt {
            number: self.numbers,
            at,
            duplicate: false,
        }
    }

    fn answer(
        &mut self,
        operation: u64,
        activity: &str,
        input: &Value,
    ) -> Result<(u64, Observation), String> {
        let call = self.calls.entry(activity.to_owned()).or_default();
        *call += 1;
        let mut takes = A_SECOND;
        let mut end = None;
        let ours = self.run.answers.iter();
        for answer in ours.filter(|answer| {
            answer.activity == activity && answer.call.is_none_or(|number| number == *call)
        }) {
            match &answer.does {
                Does::Takes(millis) => takes = *millis,
                does => end = Some(does.clone()),
            }
        }
        let encode = |value: &serde_json::Value| Value::encode(value).map_err(|e| e.to_string());
        let failed = |failure| Observation::ActivityFailed { operation, failure };
        let observation = match end {
            Some(Does::Rejects(value)) => failed(ActivityFailure::Rejected {
                value: encode(&value)?,
            }),
            Some(Does::Fails(last)) => {
                failed(ActivityFailure::RetriesExhausted { last, attempts: 3 })
            }
            Some(Does::TimesOut) => failed(ActivityFailure::TimedOut),
            Some(Does::Answers(value)) => Observation::ActivityCompleted {
                operation,
                result: encode(&value)?,
            },
            Some(Does::Takes(_)) | None => {
                let mostly = self.answers.get(activity).cloned();
                let input = serde_json::from_str(input.as_json()).map_err(|e| e.to_string())?;
                let result = mostly
                    .or_else(|| shop::answer(activity, &input))
                    .ok_or_else(|| format!("nothing is known about the activity `{activity}`"))?;
                Observation::ActivityCompleted {
                    operation,
                    result: encode(&result)?,
                }
            }
        };
        Ok((takes, observation))
    }
}
