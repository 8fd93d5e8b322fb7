//! The sweep: a few small programs, each stopped at each of its calls of the store, and gone on with.
//!
//! A scenario runs to its end once, which says which calls a process makes and what comes of it. Then it runs again for
//! each place in which the process can end: before a call takes effect; after that, and before its answer is heard; and,
//! where several calls were handed over, after each number of them, with no answer heard. What was acknowledged is there
//! then, and of the rest what was done up to there: what a power cut leaves of a store that keeps its promise. The next
//! process opens what is stored and goes on; those outside, who have not ended with it, do again what they did.
//!
//! What comes of it must be the same wherever that was: how runs end, what they are told and in which order, what they
//! give out, what has become of their offers, and what happened in the world.

mod acts;
mod answers;
mod effects;
mod kept;
mod outcome;
mod outside;
mod places;
mod requests;
mod scenario;
mod workflows;
mod world;

use super::faults::Fault;
use super::seeded::Seeded;
use super::{rounds, seed};
use kept::Kind;
use places::Place;
use scenario::Scenario;
use world::{Course, World};

const MEMORY: Kind = Kind {
    embedded: false,
    warm: true,
};

/// How often each scenario is stopped twice. Whoever says a number wants the long form: then all scenarios are stopped in
/// all places over the embedded store too.
const TWICE: &str = "PERENNIAL_SWEEP";

fn is_long() -> bool {
    rounds(TWICE, 0) > 0
}

/// A scenario in one of the ways in which it can be run.
struct Sweep<'a> {
    scenario: &'a Scenario,
    kind: Kind,
    fault: Option<Fault>,
    /// What it comes to where nothing stops.
    expected: Course,
    places: Vec<Place>,
}

impl<'a> Sweep<'a> {
    /// The error is why it does not come to its end, though nothing stops.
    fn new(scenario: &'a Scenario, kind: Kind, fault: Option<Fault>) -> Result<Self, String> {
        let told = World::new(scenario, kind, fault, &[]).and_then(World::tell);
        let expected = told.map_err(|problem| format!("{}: {problem}", scenario.name))?;
        Ok(Self {
            places: places::each(&expected.calls, is_long() || kind == MEMORY),
            scenario,
            kind,
            fault,
            expected,
        })
    }

    /// Stops it there. The error is what is not as it is where nothing stops.
    fn stop(&self, stops: &[Place]) -> Result<(), String> {
        let told = World::new(self.scenario, self.kind, self.fault, stops).and_then(World::tell);
        let same = told.and_then(|told| told.outcome.check(&self.expected.outcome));
        same.map_err(|problem| {
            let stops: Vec<String> = stops.iter().map(ToString::to_string).collect();
            format!(
                "{}, {}: {problem}",
                self.scenario.name,
                stops.join(", and then ")
            )
        })
    }

    /// Stops it in each place.
    fn everywhere(&self) -> Result<(), String> {
        let mut places = self.places.iter();
        places.try_for_each(|place| self.stop(std::slice::from_ref(place)))
    }
}

/// Stops each scenario in each place.
fn sweep(kind: Kind, scenarios: &[Scenario]) -> Result<(), String> {
    let (mut calls, mut places) = (0, 0);
    for scenario in scenarios {
        let sweep = Sweep::new(scenario, kind, None)?;
        calls += sweep.expected.calls.len();
        places += sweep.places.len();
        sweep.everywhere()?;
    }
    println!("{kind:?}: {places} places at {calls} calls");
    Ok(())
}

fn held(result: Result<(), String>) {
    if let Err(problem) = result {
        panic!("{problem}");
    }
}

#[test]
fn m53_what_comes_of_a_run_does_not_depend_on_where_its_process_ends() {
    held(sweep(MEMORY, &scenario::all()));
}

#[test]
fn m53_nor_where_runs_leave_the_memory() {
    let kind = Kind {
        warm: false,
        ..MEMORY
    };
    held(sweep(kind, &scenario::all()));
}

#[test]
fn m53_nor_over_the_embedded_store() {
    let kind = Kind {
        embedded: true,
        ..MEMORY
    };
    let mut scenarios = scenario::all();
    if is_long() {
        return held(sweep(kind, &scenarios));
    }
    scenarios.retain(|scenario| scenario.name == "orders");
    for scenario in &scenarios {
        let sweep = Sweep::new(scenario, kind, None).unwrap_or_else(|problem| panic!("{problem}"));
        for place in sweep.places.iter().step_by(3) {
            held(sweep.stop(std::slice::from_ref(place)));
        }
    }
}

#[test]
fn m53_nor_on_where_the_next_process_ends() {
    for (at, scenario) in scenario::all().iter().enumerate() {
        let sweep =
            Sweep::new(scenario, MEMORY, None).unwrap_or_else(|problem| panic!("{problem}"));
        let mut chance = Seeded::nth(u64::from(seed()), at as u64);
        for _ in 0..rounds(TWICE, 20) {
            held(sweep.stop(&places::twice(&sweep.places, &mut chance)));
        }
    }
}

/// How a fault is found with a scenario; `None`: it is not, or it shows where nothing stops.
fn find(scenario: &Scenario, fault: Fault) -> Option<String> {
    let sound = Sweep::new(scenario, MEMORY, None).ok()?;
    let sweep = Sweep::new(scenario, MEMORY, Some(fault)).ok()?;
    if sweep.expected.outcome != sound.expected.outcome {
        return None;
    }
    let found = sweep.everywhere().err()?;
    let said = |place: &Place| found.starts_with(&format!("{}, {place}: ", scenario.name));
    assert!(sweep.places.iter().any(said), "where is this? {found}");
    Some(found)
}

/// A sweep that finds nothing proves nothing. What is found says the scenario, the call and the place.
#[test]
fn each_fault_that_shows_in_the_next_process_is_found() {
    let scenarios = scenario::all();
    for fault in Fault::OF_STOPS {
        let mut found = scenarios
            .iter()
            .filter_map(|scenario| find(scenario, fault));
        match found.next() {
            Some(found) => println!("{fault:?}: {found}"),
            None => panic!("{fault:?} was not found"),
        }
    }
}
