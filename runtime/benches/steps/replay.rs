//! Cold replays.

use std::sync::Arc;
use std::time::Instant;

use perennial::WorkflowDefinition;
use perennial::history::{History, Unit};
use perennial::machine::Machine;
use perennial_runtime::store::Store;

use crate::workload::long;

fn machine() -> Machine {
    fn definition<M, F: perennial::WorkflowFn<M>>(_: F) -> WorkflowDefinition {
        WorkflowDefinition::of::<F::W>()
    }
    Machine::new(definition(long), &Arc::from("bench"), Box::new(|| 0))
}

/// Events per second from the decoded history.
pub fn from_memory(history: &History) -> f64 {
    let units = history.units.clone();
    let began = Instant::now();
    let mut machine = machine();
    for unit in units {
        machine.replay(unit).unwrap();
    }
    assert!(machine.is_finished());
    history.length() as f64 / began.elapsed().as_secs_f64()
}

/// Events per second when the history is read from the store.
pub fn from_store(store: &dyn Store, history: &History) -> f64 {
    let began = Instant::now();
    let mut machine = machine();
    while !machine.is_finished() {
        let units: Vec<Unit> = store
            .history(
                &history.run,
                history.generation,
                machine.next_event(),
                1_000,
            )
            .unwrap();
        for unit in units {
            machine.replay(unit).unwrap();
        }
    }
    history.length() as f64 / began.elapsed().as_secs_f64()
}
