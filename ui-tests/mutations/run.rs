//! The program that records the originals' runs and gives them to the mutants:
//! `run <file of recordings> <mutants that are left out, as fulfil/made_3>..`.
//!
//! What it says are lines of JSON; see `protocol.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, fs, panic, process, thread};

use perennial::history::{Decision, RecordSource, Render, Unit, render};
use perennial::machine::Machine;
use perennial::{Blocked, Graph, RetiredMarker, WorkflowDefinition};

use crate::protocol::{ENDLESS, Line, Recordings, Refused};
use crate::world::World;

/// More than any mutant needs that comes to an end.
const ENOUGH: Duration = Duration::from_secs(5);

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
pub struct Recorded {
    workflow: String,
    run: String,
    number: usize,
    pub units: Vec<Unit>,
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
        let differs = self.truth(mutant);
        let mut astray = Vec::new();
        let mut replays = Vec::new();
        for length in 1..=self.units.len() {
            let machine = match self.replay(definition, length) {
                Ok(machine) => machine,
                Err(refused) => {
                    replays.push(Some(refused));
                    continue;
                }
            };
            replays.push(None);
            // Where markers are asked for, what comes next gets the newest versions.
            if mutant.oracle.is_none() {
                let goes_on = self.differs(machine, length, mutant).map(|found| found.0);
                if goes_on != differs {
                    astray.push(format!("{length} units: {goes_on:?}"));
                }
            }
        }
        say(&Line::Replayed {
            workflow: self.workflow.clone(),
            mutant: mutant.name.to_owned(),
            run: self.run.clone(),
            differs,
            replays,
            astray,
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

/// The same numbers for each who draws in this run, after so many draws.
pub fn begun(definition: WorkflowDefinition, artifact: &str, run: usize, draws: usize) -> Machine {
    // SplitMix64.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = (run as u64).wrapping_add(STEP.wrapping_mul(draws as u64));
    let draw = move || {
        state = state.wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    Machine::new(definition, &Arc::from(artifact), Box::new(draw))
}

impl Recorded {
    /// A machine for a mutant, which draws what was drawn after the first units.
    pub fn begun(&self, definition: WorkflowDefinition, units: usize) -> Machine {
        let before = self.units.iter().take(units);
        let draws = before.flat_map(|unit| &unit.decisions).map(drawn).sum();
        begun(definition, "mutant", self.number, draws)
    }

    /// Gives a mutant the first units, from the beginning.
    fn replay(&self, definition: WorkflowDefinition, units: usize) -> Result<Machine, Refused> {
        let mut machine = self.begun(definition, units);
        let units = &self.units[..units];
        for (number, unit) in (1..).zip(units) {
            machine.replay(unit.clone()).map_err(|blocked| {
                let blocked = blocked.look_ahead(&units[number..]);
                Refused {
                    code: blocked.code().to_owned(),
                    event: event(&blocked),
                    text: blocked.to_string(),
                }
            })?;
        }
        Ok(machine)
    }
}

/// How many numbers a decision has drawn.
fn drawn(decision: &Decision) -> usize {
    match decision {
        Decision::Recorded {
            source: RecordSource::Random,
            ..
        } => 1,
        Decision::Recorded {
            source: RecordSource::Uuid,
            ..
        } => 2,
        _ => 0,
    }
}

pub fn event(blocked: &Blocked) -> u64 {
    match blocked {
        Blocked::Incompatible(error) => error.event,
        Blocked::Panicked(error) => error.event,
        Blocked::Runaway(error) => error.event,
        Blocked::NotDurable(error) => error.event,
        Blocked::Unstorable(error) => error.event,
        _ => 0,
    }
}

pub fn summary(blocked: &Blocked) -> String {
    let text = blocked.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
