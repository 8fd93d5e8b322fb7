//! Processes that are killed at any moment: in the end all is done, nothing that was acknowledged is lost, and
//! nothing that was recorded is done twice (S3, S4, O6, RW-27).
#![allow(clippy::unwrap_used)]

#[path = "kill/many_runs.rs"]
mod many_runs;
#[path = "kill/one_run.rs"]
mod one_run;
#[path = "kill/sends.rs"]
mod sends;
#[path = "kill/slots.rs"]
mod slots;
mod support;

use std::collections::BTreeMap;

use perennial::RunKey;
use perennial::history::{Decision, Observation, Unit};
use perennial_runtime::store::Store;

fn run_key(id: &str) -> RunKey {
    RunKey::new("default".parse().unwrap(), id.parse().unwrap())
}

fn units(store: &dyn Store, run: &RunKey) -> Vec<Unit> {
    match store.load(run).unwrap() {
        Some(_) => store.history(run, 1, 1, usize::MAX).unwrap(),
        None => Vec::new(),
    }
}

/// Operations whose results are recorded, with input and result.
fn completions(units: &[Unit]) -> BTreeMap<u64, (String, String)> {
    let mut inputs = BTreeMap::new();
    let mut completed = BTreeMap::new();
    for unit in units {
        if let Observation::ActivityCompleted { operation, result } = &unit.observation {
            let input: &String = &inputs[operation];
            let before = completed.insert(*operation, (input.clone(), result.to_string()));
            assert_eq!(before, None, "~{operation} completes once");
        }
        for decision in &unit.decisions {
            if let Decision::ActivityScheduled {
                operation, input, ..
            } = decision
            {
                inputs.insert(*operation, input.to_string());
            }
        }
    }
    completed
}
