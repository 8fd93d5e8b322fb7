//! The program that records the originals' runs and gives them to the mutants:
//! `run <file of recordings> <mutants that are left out, as fulfil/made_3>..`.
//!
//! What it says are lines of JSON; see `protocol.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, fs, panic, process, thread};

use perennial::history::{
    ActivityFailure, Decision, Observation, RecordSource, Render, SEMANTICS, Started, Unit, render,
};
use perennial::machine::Machine;
use perennial::value::Value;
use perennial::{Blocked, Graph, Namespace, RetiredMarker, RunId, Timestamp, WorkflowDefinition};

use crate::marked::{self, MarkerCall};
use crate::protocol::{Differs, Does, ENDLESS, Line, Recordings, Refused, Run};
use crate::shop;

/// When each run begins.
const BEGIN: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// What an activity takes where its run does not say it.
const A_SECOND: u64 = 1_000;
/// More than any mutant needs that comes to an end.
const ENOUGH: Duration = Duration::from_secs(5);
/// No run has more units than that.
const MAX_UNITS: usize = 200;

/// A workflow and its mutants.
pub struct Program {
    pub original: WorkflowDefinition,
    /// What it was before, by name.
    pub before: Vec<(&'static str, WorkflowDefinition)>,
    pub mutants: Vec<Mutant>,
}

pub struct Mutant {
    pub name: &'static str,
    pub definition: WorkflowDefinition,
    /// The same with markers that are looked up, where it has any.
    pub oracle: Option<WorkflowDefinition>,
    /// The markers that it has retired, each with the version whose code has stayed.
    pub retired: &'static [(&'static str, u32)],
}

pub fn main(programs: fn(&str) -> Option<Program>) {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().expect("the file of recordings");
    let left_out: BTreeSet<String> = arguments.collect();
    let recordings = fs::read_to_string(path).expect("the file can be read");
    let recordings: Vec<Recordings> = serde_json::from_str(&recordings).expect("it has recordings");
    // Mutants may panic, and that is told in its place.
    panic::set_hook(Box::new(|_| {}));
    thread::spawn(watch);
    for Recordings {
        workflow,
        answers,
        runs,
    } in recordings
    {
        let program = programs(&workflow).expect("the workflow is compiled in");
        for (number, run) in runs.iter().enumerate() {
            for (name, first, then) in recorders(&program, &run.name) {
                let (workflow, run_of) = (workflow.clone(), name.clone());
                match World::new(&answers, run).record(first, then, number) {
                    Ok(units) => {
                        say(&Line::Recorded {
                            workflow: workflow.clone(),
                            run: run_of,
                            units: units.iter().map(Unit::last).collect(),
                            text: render(&units, Render::default()),
                        });
                        let recorded = Recorded {
                            workflow,
                            run: name,
                            number,
                            units,
                        };
                        let left_out = |mutant: &Mutant| {
                            left_out.contains(&format!("{}/{}", recorded.workflow, mutant.name))
                        };
                        for mutant in program.mutants.iter().filter(|mutant| !left_out(mutant)) {
                            recorded.give(mutant);
                        }
                    }
                    Err(why) => say(&Line::NotRecorded {
                        workflow,
                        run: run_of,
                        why,
                    }),
                }
            }
        }
    }
}

/// Who records a run, and from the middle on perhaps somebody else: with a name for it.
fn recorders(
    program: &Program,
    run: &str,
) -> Vec<(String, WorkflowDefinition, Option<WorkflowDefinition>)> {
    let mut recorders = vec![(run.to_owned(), program.original, None)];
    for (before, definition) in &program.before {
        recorders.push((format!("{run}, {before}"), *definition, None));
        let then = Some(program.original);
        recorders.push((format!("{run}, begun with {before}"), *definition, then));
    }
    recorders
}

/// A recorded run.
struct Recorded {
    workflow: String,
    run: String,
    number: usize,
    units: Vec<Unit>,
}

impl Recorded {
    /// Gives it to a mutant.
    fn give(&self, mutant: &Mutant) {
        say(&Line::Begun {
            workflow: self.workflow.clone(),
            mutant: mutant.name.to_owned(),
        });
        let mut definition = mutant.definition;
        if !mutant.retired.is_empty() {
            let retired = mutant.retired.iter();
            let retired: Vec<_> = retired
                .map(|(id, version)| RetiredMarker {
                    id,
                    version: *version,
                })
                .collect();
            // As the attributes write them out of the lock, and for as long.
            definition.graph = Box::leak(Box::new(Graph {
                retired: Box::leak(retired.into_boxed_slice()),
                callees: definition.graph.callees,
                markers: definition.graph.markers,
                structure: definition.graph.structure,
                ..Graph::here(definition.graph.name, definition.graph.manifest_dir, &[])
            }));
        }
        say(&Line::Replayed {
            workflow: self.workflow.clone(),
            mutant: mutant.name.to_owned(),
            run: self.run.clone(),
            differs: self.truth(mutant),
            replays: prefixes(definition, &self.units),
        });
    }
}

/// How many lines have been said.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// Ends the program when a mutant computes without end: nothing else can.
fn watch() {
    let mut before = 0;
    loop {
        thread::sleep(ENOUGH);
        let begun = BEGUN.load(Ordering::Relaxed);
        if begun == before {
            process::exit(ENDLESS);
        }
        before = begun;
    }
}

fn say(line: &Line) {
    BEGUN.fetch_add(1, Ordering::Relaxed);
    println!("{}", serde_json::to_string(line).expect("it is data"));
}

/// The same numbers for each who draws in this run.
fn begun(definition: WorkflowDefinition, artifact: &str, run: usize) -> Machine {
    let mut state = run as u64;
    let draw = move || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    Machine::new(definition, &Arc::from(artifact), Box::new(draw))
}

// ---- recording -----------------------------------------------------------------------------------------

/// The world of a run: a clock, timers, and activities that answer after a while.
struct World<'a> {
    answers: &'a BTreeMap<String, serde_json::Value>,
    run: &'a Run,
    timers: BTreeSet<(Timestamp, u64)>,
    /// What has been asked of activities, by when it is answered.
    open: BTreeMap<(Timestamp, u64), Observation>,
    calls: BTreeMap<String, usize>,
}

impl<'a> World<'a> {
    fn new(answers: &'a BTreeMap<String, serde_json::Value>, run: &'a Run) -> Self {
        Self {
            answers,
            run,
            timers: BTreeSet::new(),
            open: BTreeMap::new(),
            calls: BTreeMap::new(),
        }
    }

    /// `then`: who goes on after half of the units that there are otherwise.
    fn record(
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
        let mut machine = begun(definition, "original", number);
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
        };
        let mut next = Some((BEGIN, Observation::Started(started)));
        let mut units: Vec<Unit> = Vec::new();
        while let Some((at, observation)) = next {
            if let Some((_, then)) = then.filter(|(after, _)| *after == units.len()) {
                machine = begun(then, "original", number);
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
            next = self.next(at);
        }
        Err("it waits for ever".to_owned())
    }

    /// What happens next, and when. Timers come first (S2).
    fn next(&mut self, now: Timestamp) -> Option<(Timestamp, Observation)> {
        let timer = self.timers.first().map(|(at, _)| *at);
        let answer = self.open.first_key_value().map(|((at, _), _)| *at);
        let (at, observation) = match (timer, answer) {
            (Some(timer), answer) if answer.is_none_or(|answer| timer <= answer) => {
                let (at, operation) = self.timers.pop_first()?;
                (at, Observation::TimerFired { operation })
            }
            _ => {
                let ((at, _), observation) = self.open.pop_first()?;
                (at, observation)
            }
        };
        Some((at.max(now), observation))
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
            _ => {}
        }
        Ok(())
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

// ---- the truth -----------------------------------------------------------------------------------------

impl Recorded {
    /// Runs a mutant as if nothing was recorded, in the world that the original had, until it decides something
    /// else. Nothing of a replay is in this.
    fn truth(&self, mutant: &Mutant) -> Option<Differs> {
        let Some(oracle) = mutant.oracle else {
            return self.differs(mutant.definition, mutant).map(|found| found.0);
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
            let (differs, call) = self.differs(oracle, mutant)?;
            match call {
                // The history has something else where it is asked for, so it is version 0 there.
                Some(call) if without.insert(call.clone()) => {}
                _ => return Some(differs),
            }
        }
    }

    /// Where the decisions differ first; and which call of a marker that is, where the history does not have the
    /// marker in the rest of the unit.
    fn differs(
        &self,
        definition: WorkflowDefinition,
        mutant: &Mutant,
    ) -> Option<(Differs, Option<MarkerCall>)> {
        let mut machine = begun(definition, "mutant", self.number);
        for (number, unit) in self.units.iter().enumerate() {
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

// ---- replays -------------------------------------------------------------------------------------------

/// Gives a mutant the first unit, then the first two, and so on, each time from the beginning.
fn prefixes(definition: WorkflowDefinition, units: &[Unit]) -> Vec<Option<Refused>> {
    let lengths = 1..=units.len();
    lengths
        .map(|length| replay(definition, &units[..length]))
        .collect()
}

fn replay(definition: WorkflowDefinition, units: &[Unit]) -> Option<Refused> {
    let mut machine = begun(definition, "mutant", 0);
    for (number, unit) in (1..).zip(units) {
        if let Err(blocked) = machine.replay(unit.clone()) {
            let blocked = blocked.look_ahead(&units[number..]);
            return Some(Refused {
                code: blocked.code().to_owned(),
                event: event(&blocked),
                text: blocked.to_string(),
            });
        }
    }
    None
}

fn event(blocked: &Blocked) -> u64 {
    match blocked {
        Blocked::Incompatible(error) => error.event,
        Blocked::Panicked(error) => error.event,
        Blocked::Runaway(error) => error.event,
        Blocked::NotDurable(error) => error.event,
        Blocked::Unstorable(error) => error.event,
        _ => 0,
    }
}

fn summary(blocked: &Blocked) -> String {
    let text = blocked.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
