//! How fast a machine replays: `cargo bench -p perennial --bench replay`.
//!
//! A history of 10,000 steps is decoded and then replayed on a cold machine, several times; the best run
//! counts. Decoding is measured on its own, since an engine decodes on the way from its store.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use perennial::history::{Observation, SEMANTICS, Started, Unit, decode_unit, encode_unit};
use perennial::machine::Machine;
use perennial::prelude::*;
use perennial::value::Value;
use perennial::{Namespace, Workflow, WorkflowDefinition};
use serde::{Deserialize, Serialize};

const STEPS: u64 = 10_000;
const RUNS: usize = 20;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Order {
    id: String,
    cents: u64,
    lines: Vec<String>,
}

#[activity(idempotent)]
async fn step(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

#[activity(idempotent)]
async fn handle(_acx: &ActivityCx, order: Order) -> Result<Order, Failure> {
    Ok(order)
}

/// One activity after the other, with as little as may be in each.
#[workflow]
async fn small_steps(cx: &Cx, steps: u64) -> Result<u64, Error> {
    let mut sum = 0_u64;
    for number in 0..steps {
        sum = sum.wrapping_add(step(cx, number).await?);
    }
    Ok(sum)
}

/// One activity after the other, with an order of some 100 bytes in each.
#[workflow]
async fn orders(cx: &Cx, steps: u64) -> Result<u64, Error> {
    let mut order = Order {
        id: "order-1234567".to_owned(),
        cents: 0,
        lines: vec![
            "first line of it".to_owned(),
            "second line of it".to_owned(),
        ],
    };
    for _ in 0..steps {
        order = handle(cx, order).await?;
    }
    Ok(order.cents)
}

/// Timers in groups of a hundred.
#[workflow]
async fn fans(cx: &Cx, steps: u64) -> Result<u64, Error> {
    for _ in 0..steps / 100 {
        join_all((0..100).map(|_| cx.sleep(seconds(1)))).await;
    }
    Ok(steps)
}

/// A select of an activity and a timer, whose timer is dropped.
#[workflow]
async fn selects(cx: &Cx, steps: u64) -> Result<u64, Error> {
    let mut sum = 0;
    for number in 0..steps {
        select! {
            done = step(cx, number) => sum += done?,
            _ = cx.sleep(hours(1)) => {},
        }
    }
    Ok(sum)
}

fn machine<W: Workflow>() -> Machine {
    let artifact: Arc<str> = "bench".into();
    Machine::new(WorkflowDefinition::of::<W>(), &artifact, Box::new(|| 0))
}

/// Lives the run, answering what is open.
fn told<W: Workflow>(answer: &Value) -> Vec<Unit> {
    let mut machine = machine::<W>();
    let mut at = Timestamp::from_millis(1_700_000_000_000);
    let started = Observation::Started(Started {
        workflow: W::NAME.into(),
        input: Value::encode(&STEPS).unwrap(),
        semantics: SEMANTICS,
        artifact: "bench".into(),
        namespace: Namespace::default(),
        run: RunId::new("bench").unwrap(),
        generation: 1,
        first_operation: 1,
        version: None,
        migrated_from: None,
        forked_from: Vec::new(),
        streams: Vec::new(),
    });
    let mut units = vec![machine.observe(started, at, at).unwrap().unit];
    while !machine.is_finished() {
        at = at + millis(1);
        let activity = machine.open_activities().into_iter().min();
        let observation = match activity {
            Some(operation) => Observation::ActivityCompleted {
                operation,
                result: answer.clone(),
            },
            None => Observation::TimerFired {
                operation: machine.timers()[0].0,
            },
        };
        units.push(machine.observe(observation, at, at).unwrap().unit);
    }
    units
}

fn best(mut run: impl FnMut() -> Duration) -> Duration {
    (0..RUNS).map(|_| run()).min().unwrap_or_default()
}

#[allow(clippy::cast_precision_loss)]
fn measure<W: Workflow>(answer: &Value) {
    let units = told::<W>(answer);
    let events = units.last().map_or(0, Unit::last);
    let records: Vec<_> = units.iter().map(encode_unit).collect();
    let bytes: usize = records.iter().map(Vec::len).sum();
    let rate = |time: Duration| events as f64 / time.as_secs_f64() / 1e6;

    let decoding = best(|| {
        let begin = Instant::now();
        for record in &records {
            std::hint::black_box(decode_unit(record).unwrap());
        }
        begin.elapsed()
    });
    let replaying = best(|| {
        // As an engine has them: decoded, and handed over.
        let units: Vec<_> = records
            .iter()
            .map(|record| decode_unit(record).unwrap())
            .collect();
        let mut machine = machine::<W>();
        let begin = Instant::now();
        for unit in units {
            machine.replay(unit).unwrap();
        }
        let time = begin.elapsed();
        assert!(machine.is_finished());
        time
    });
    println!(
        "{:<12} {events:>6} events, {:>4} bytes each: replay {:>5.2} M events/s, decode {:>5.2} M events/s",
        W::NAME,
        bytes as u64 / events,
        rate(replaying),
        rate(decoding),
    );
}

fn main() {
    let number = Value::encode(&7_u64).unwrap();
    let order = Value::encode(&Order {
        id: "order-1234567".into(),
        cents: 1_200,
        lines: vec!["first line of it".into(), "second line of it".into()],
    })
    .unwrap();
    measure::<small_steps>(&number);
    measure::<orders>(&order);
    measure::<fans>(&number);
    measure::<selects>(&number);
}
