//! Cold replays.

use std::sync::Arc;
use std::time::{Duration, Instant};

use perennial::history::{History, encode_unit};
use perennial::machine::Machine;
use perennial::{WorkflowDefinition, WorkflowFn};
use perennial_runtime::store::Store;

use crate::HEAP;

/// How many units an engine reads at a time.
const PAGE: usize = 1_000;

fn machine<M, F: WorkflowFn<M>>(_: F) -> Machine {
    let definition = WorkflowDefinition::of::<F::W>();
    Machine::new(definition, &Arc::from("bench"), Box::new(|| 0))
}

/// From the decoded history.
pub fn from_memory<M, F: WorkflowFn<M>>(workflow: F, history: &History) -> Duration {
    let units = history.units.clone();
    let began = Instant::now();
    let mut machine = machine(workflow);
    for unit in units {
        machine.replay(unit).unwrap();
    }
    assert!(machine.is_finished());
    began.elapsed()
}

/// Read from the store on the way.
pub fn from_store<M, F: WorkflowFn<M>>(
    workflow: F,
    store: &dyn Store,
    history: &History,
) -> Duration {
    let began = Instant::now();
    replay(workflow, store, history, || {});
    began.elapsed()
}

/// What is on the heap at most ÷ the size of the history's records.
pub fn peak<M, F: WorkflowFn<M>>(workflow: F, store: &dyn Store, history: &History) -> f64 {
    let before = HEAP.allocated();
    let mut peak = before;
    replay(workflow, store, history, || {
        peak = peak.max(HEAP.allocated())
    });
    let size: usize = history
        .units
        .iter()
        .map(|unit| encode_unit(unit).len())
        .sum();
    (peak - before) as f64 / size as f64
}

fn replay<M, F: WorkflowFn<M>>(
    workflow: F,
    store: &dyn Store,
    history: &History,
    mut look: impl FnMut(),
) {
    let mut machine = machine(workflow);
    while !machine.is_finished() {
        let from = machine.next_event();
        let units = store.history(&history.run, history.generation, from, PAGE);
        for unit in units.unwrap() {
            look();
            machine.replay(unit).unwrap();
        }
        look();
    }
}
