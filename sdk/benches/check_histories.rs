//! What `check_histories` costs beside reading the files:
//! `cargo bench -p perennial --bench check_histories -- [--rounds N]`
//!
//! A thousand histories of a thousand events each are written to a folder, read and decoded, and then checked. Both
//! are done several times, in turn; the best of each counts, and their ratio is what must stay below three. With
//! `--rounds 1`, which is for showing that it works, there are fifty histories.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use perennial::history::{History, Observation, SEMANTICS, Started};
use perennial::machine::Machine;
use perennial::prelude::*;
use perennial::testing::replay_folder;
use perennial::value::Value;
use perennial::{Namespace, RunKey, WorkflowDefinition};
use serde::{Deserialize, Serialize};

const HISTORIES: u64 = 1_000;
/// To show that it works.
const FEW: u64 = 50;
const EVENTS: u64 = 1_000;
const ROUNDS: usize = 3;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Order {
    id: String,
    cents: u64,
}

#[activity(idempotent)]
async fn charge(_acx: &ActivityCx, order: Order) -> Result<u64, Failure> {
    Ok(order.cents)
}

/// Two events a step, and some timers and draws.
#[workflow]
async fn orders(cx: &Cx, steps: u64) -> Result<u64, Error> {
    let mut sum = 0_u64;
    for number in 0..steps {
        let id = format!("order-{number}");
        let cents = cx.random_range(1..1_000);
        select! {
            charged = charge(cx, Order { id, cents }) => sum += charged?,
            _ = cx.sleep(hours(1)) => {},
        }
    }
    Ok(sum)
}

fn history(number: u64) -> History {
    let run = RunId::new(format!("run-{number}")).unwrap();
    let artifact: Arc<str> = "bench".into();
    let mut draw = number;
    let entropy = Box::new(move || {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        draw
    });
    let mut machine = Machine::new(WorkflowDefinition::of::<orders>(), &artifact, entropy);
    let mut at = Timestamp::from_millis(1_700_000_000_000);
    // A draw, an activity, a timer, the result and the dropped timer: five events.
    let started = Observation::Started(Started {
        workflow: orders::NAME.into(),
        input: Value::encode(&(EVENTS / 5)).unwrap(),
        semantics: SEMANTICS,
        artifact: "bench".into(),
        namespace: Namespace::default(),
        run: run.clone(),
        generation: 1,
        first_operation: 1,
        version: None,
        migrated_from: None,
        forked_from: Vec::new(),
        streams: Vec::new(),
    });
    let mut units = vec![machine.observe(started, at, at).unwrap().unit];
    while !machine.is_finished() {
        at = at + millis(40);
        let operation = machine.open_activities()[0];
        let result = Value::encode(&7_u64).unwrap();
        let completed = Observation::ActivityCompleted { operation, result };
        units.push(machine.observe(completed, at, at).unwrap().unit);
    }
    History {
        run: RunKey::new(Namespace::default(), run),
        generation: 1,
        units,
    }
}

fn read(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).unwrap();
    let lengths = files.map(|file| {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        std::hint::black_box(History::from_json(&text).unwrap()).length()
    });
    lengths.sum()
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let result = run();
    (begin.elapsed(), result)
}

/// How often both are done, as the arguments say.
fn rounds() -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--rounds");
    match arguments.nth(1) {
        Some(rounds) => rounds.parse().expect("`--rounds` takes a number"),
        None => ROUNDS,
    }
}

fn main() {
    let rounds = rounds();
    let histories = if rounds > 1 { HISTORIES } else { FEW };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench-check-histories");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for number in 0..histories {
        let text = history(number).to_json().unwrap();
        fs::write(folder.join(format!("{number}.json")), text).unwrap();
    }
    let mut reading = Duration::MAX;
    let mut checking = Duration::MAX;
    for _ in 0..rounds {
        let (took, events) = timed(|| read(&folder));
        assert!(events >= histories * EVENTS);
        reading = reading.min(took);
        let (took, checked) = timed(|| replay_folder(&folder, orders));
        assert_eq!(checked.unwrap().histories as u64, histories);
        checking = checking.min(took);
    }
    let ratio = checking.as_secs_f64() / reading.as_secs_f64();
    println!(
        "{histories} histories of {EVENTS} events: read and decoded in {reading:?}, checked in {checking:?}: {ratio:.2} times as long"
    );
    fs::remove_dir_all(&folder).unwrap();
}
