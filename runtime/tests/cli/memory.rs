//! What a plan holds in memory: one run at a time, and of each error one text.
#![allow(clippy::unwrap_used)]

use std::alloc::System;

use perennial::history::{Decision, Observation, SEMANTICS, Started, Unit};
use perennial::prelude::*;
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use perennial_runtime::cli::{PlanOptions, plan};
use perennial_runtime::store::export::export_to;
use perennial_runtime::store::{Changes, Create, MemoryStore, Store};
use perennial_runtime::{Builder, Runtime};

#[global_allocator]
static HEAP: cap::Cap<System> = cap::Cap::new(System, usize::MAX);

#[activity(pure)]
async fn step(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

#[workflow]
async fn walk(cx: &Cx, length: u64) -> Result<u64, Error> {
    let mut last = 0;
    for number in 0..length {
        last = step(cx, number).await?;
    }
    Ok(last)
}

/// Takes another step first: nothing that is recorded fits.
#[workflow(name = "walk")]
async fn changed(cx: &Cx, length: u64) -> Result<u64, Error> {
    cx.sleep(days(1)).await?;
    step(cx, length).await?;
    Ok(length)
}

/// A walk that has made so many steps.
fn units(run: &RunKey, steps: u64) -> Vec<Unit> {
    let started = Observation::Started(Started {
        workflow: "walk".into(),
        input: Value::from_json("1000").unwrap(),
        semantics: SEMANTICS,
        artifact: "one".into(),
        namespace: run.namespace.clone(),
        run: run.id.clone(),
        generation: 1,
        first_operation: 1,
        version: None,
        migrated_from: None,
        forked_from: Vec::new(),
        streams: Vec::new(),
    });
    let number = |number: u64| Value::from_json(number.to_string()).unwrap();
    let completed = (1..=steps).map(|operation| Observation::ActivityCompleted {
        operation,
        result: number(operation - 1),
    });
    let observations = [started].into_iter().chain(completed);
    let units = (0..).zip(observations).map(|(step, observation)| Unit {
        number: 1 + 2 * step,
        at: Timestamp::from_millis(step),
        observation,
        decisions: vec![Decision::ActivityScheduled {
            operation: step + 1,
            name: "step".into(),
            input: number(step),
            site: None,
        }],
    });
    units.collect()
}

fn fill(store: &MemoryStore, runs: u64) {
    for number in 0..runs {
        let run: RunKey = format!("walk-{number}").parse().unwrap();
        let create = Create {
            run: run.clone(),
            workflow: "walk".into(),
            input: Value::null().digest(),
            after: None,
            owner: store.enroll().unwrap(),
            changes: Changes {
                units: units(&run, 50),
                ..Changes::default()
            },
            keys: Vec::new(),
        };
        store.create(create, Box::new(|created| drop(created.unwrap())));
    }
}

#[test]
fn a_plan_takes_no_more_memory_with_more_runs() {
    let folder = tempfile::tempdir().unwrap();
    let export = |runs: u64| {
        let store = MemoryStore::new();
        fill(&store, runs);
        let path = folder.path().join(format!("{runs}.jsonl"));
        export_to(&store, &path, Timestamp::default()).unwrap();
        path
    };
    let (few, many) = (export(20), export(1_000));
    let fits = || program().workflow(walk);
    let differs = || program().workflow(changed);
    let most = |program: Builder, path, open, covered| {
        let before = HEAP.allocated();
        let limit = before + (2 << 20);
        HEAP.set_limit(limit).unwrap();
        let plan = plan(&program, path, &PlanOptions::default()).unwrap();
        HEAP.set_limit(usize::MAX).unwrap();
        assert_eq!((plan.open, plan.covered), (open, covered));
    };
    // More than what it may take is in the export itself.
    assert!(std::fs::metadata(&many).unwrap().len() > 8 << 20);
    most(fits(), &few, 20, 20);
    most(fits(), &many, 1_000, 1_000);
    most(differs(), &many, 1_000, 0);
}

fn program() -> Builder {
    Runtime::builder(MemoryStore::new())
        .activity(step)
        .artifact("two")
}
