//! What is made of some bytes: a history, however broken, and what a machine says to it. The same for the ordinary
//! test, the property tests and the fuzzer in `sdk/fuzz`.
//!
//! The first byte says how the rest is read: as the JSON text of a history, as records with their lengths before
//! them, or as steps that change a history which fits.

// Each program that includes this file uses a part of it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::sync::{Arc, OnceLock};

use perennial::history::{
    ActivityFailure, Channel, Decision, ForkedFrom, History, Observation, RecordSource, SEMANTICS,
    SlotResult, Started, Told, UNIT_VERSION, Unit, decode_unit, encode_unit,
};
use perennial::machine::Machine;
use perennial::prelude::*;
use perennial::value::Value;
use perennial::{Blocked, Incompatible, Namespace, RunKey, WorkflowDefinition};

#[activity(idempotent)]
async fn count(_acx: &ActivityCx, number: u64) -> Result<u64, Failure<String>> {
    Ok(number)
}

#[activity(idempotent)]
async fn note(_acx: &ActivityCx, text: String) -> Result<Vec<String>, Failure> {
    Ok(vec![text])
}

#[stub]
async fn review(cx: &Cx, order: String) -> u64;

const ADD: Message<u64> = Message::new("add");
const BELL: Signal<String> = Signal::new("bell");

/// Something of everything. Whatever its results are, it comes to an end.
#[workflow]
async fn flow(cx: &Cx, rounds: u64) -> Result<(u64, Vec<String>), Error> {
    let mut sum = 0_u64;
    let mut notes = Vec::new();
    for round in 0..rounds.min(4) {
        if cx.patched_each("in-a-round") {
            notes = note(cx, format!("round {round}")).await?;
        }
        let jitter = cx.random_range(1..100);
        let (one, two) = join!(count(cx, round), async {
            cx.sleep(millis(jitter)).await?;
            Ok::<_, Error>(count(cx, round + 1).await.unwrap_or(0))
        });
        sum = sum.wrapping_add(one.unwrap_or(1)).wrapping_add(two?);
    }
    let (added, rung) = join!(cx.receive(ADD), cx.wait_for(BELL).timeout(hours(1)));
    sum = sum.wrapping_add(added.unwrap_or(3));
    if let Ok(Some(rung)) = rung {
        notes.push(rung);
    }
    let mut early = Box::pin(cx.receive(ADD));
    select! {
        added = &mut early => sum = sum.wrapping_add(added.unwrap_or(4)),
        counted = count(cx, sum) => sum = sum.wrapping_add(counted.unwrap_or(5)),
    }
    drop(early);
    // Whatever comes of it, and one that nobody waits for.
    let own = cx.run_id();
    if let Ok(receipt) = cx.send(&own, ADD, &sum).await {
        sum = sum.wrapping_add(receipt.number % 3);
    }
    select! {
        _ = cx.signal(&own, BELL, &"rung".to_owned()) => {},
        _ = async {} => {},
    }
    // Whatever comes of it too.
    let asked = OperationId {
        run: own,
        number: 1_000,
    };
    if cx.fulfil(&asked, review, &sum).await.is_err() {
        sum = sum.wrapping_add(2);
    }
    if cx.patched("how") {
        sum = sum.wrapping_add(cx.record("limit", || 5));
    }
    let id = cx.uuid();
    select! {
        noted = note(cx, id.to_string()) => notes.extend(noted?),
        _ = cx.sleep(hours(1)) => {},
    }
    let task = cx.spawn(async move {
        cx.sleep(millis(1)).await?;
        Ok::<_, Error>(count(cx, sum).await.unwrap_or(2))
    });
    let all = join_all((0..sum % 5).map(|number| count(cx, number))).await;
    sum = sum.wrapping_add(all.len() as u64).wrapping_add(task.await?);
    if sum % 7 == 6 {
        return Err(Error::new("it came to a number that is not wanted"));
    }
    Ok((sum, notes))
}

/// Histories that fit, each told differently.
pub fn fitting() -> &'static [History] {
    static FITTING: OnceLock<Vec<History>> = OnceLock::new();
    FITTING.get_or_init(|| (0..6).map(told).collect())
}

fn told(kind: u64) -> History {
    let run = RunId::new(format!("run-{kind}")).unwrap();
    let mut draw = kind;
    let entropy = Box::new(move || {
        draw = draw
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        draw
    });
    let mut machine = Machine::new(WorkflowDefinition::of::<flow>(), &artifact(), entropy);
    let mut at = Timestamp::from_millis(1_700_000_000_000);
    let started = Observation::Started(Started {
        workflow: flow::NAME.to_owned(),
        input: Value::encode(&(kind % 4)).unwrap(),
        semantics: SEMANTICS,
        artifact: "first".to_owned(),
        namespace: Namespace::default(),
        run: run.clone(),
        generation: 1,
        first_operation: 1 + kind,
        version: Some(1),
        migrated_from: None,
        forked_from: Vec::new(),
        streams: Vec::new(),
    });
    let mut units = vec![machine.observe(started, at, at).unwrap().unit];
    while !machine.is_finished() && units.len() < 40 - 6 * usize::try_from(kind).unwrap() {
        at = at + millis(500);
        let activity = machine.open_activities().into_iter().next();
        let timer = machine.timers().first().map(|(number, _)| *number);
        let number = machine.next_event();
        let awaited = machine.awaited().first().copied();
        let observation = match (activity, timer) {
            _ if open_slot(&units).is_some() => filled(open_slot(&units).unwrap(), number),
            // Whether or not anything waits for it.
            _ if number % 9 == kind => arrival(number, None),
            (None, None) if awaited.is_some() => arrival(number, awaited),
            _ if awaited.is_some() && number.is_multiple_of(4) => arrival(number, awaited),
            (Some(operation), timer) if kind.is_multiple_of(2) || timer.is_none() => {
                answer(&units, operation, kind)
            }
            (_, Some(operation)) => Observation::TimerFired { operation },
            (Some(operation), None) => answer(&units, operation, kind),
            (None, None) => panic!("nothing is open"),
        };
        units.push(machine.observe(observation, at, at).unwrap().unit);
    }
    History {
        run: RunKey::new(Namespace::default(), run),
        generation: 1,
        units,
    }
}

fn artifact() -> Arc<str> {
    "this".into()
}

/// A send, or what is fulfilled, that has come to nothing yet.
fn open_slot(units: &[Unit]) -> Option<&Decision> {
    let is_filled = |slot: u64| {
        units.iter().any(|unit| {
            matches!(unit.observation, Observation::SlotFilled { operation, .. } if operation == slot)
        })
    };
    let mut decisions = units.iter().flat_map(|unit| &unit.decisions);
    decisions.find(|decision| match decision {
        Decision::SendRequested { operation, .. } | Decision::FulfilRequested { operation, .. } => {
            !is_filled(*operation)
        }
        _ => false,
    })
}

/// What it comes to.
fn filled(slot: &Decision, number: u64) -> Observation {
    match slot {
        Decision::SendRequested { operation, .. } => came_to(*operation, number % 3, number),
        Decision::FulfilRequested { operation, .. } => came_to(*operation, 3 + number % 2, number),
        other => panic!("{other:?}"),
    }
}

/// Something that a slot may come to.
fn came_to(operation: u64, what: u64, number: u64) -> Observation {
    let run = RunId::new("run-0").unwrap();
    let receipt = Receipt {
        number,
        at: Timestamp::from_millis(number),
        duplicate: number.is_multiple_of(2),
    };
    let result = match what % 5 {
        0 => SlotResult::NotSent(SendFailure::RunNotFound { run }),
        1 => SlotResult::NotSent(SendFailure::InboxFull { run, limit: 9 }),
        2 => SlotResult::Sent(receipt),
        3 => {
            let reference = OperationId { run, number };
            SlotResult::NotFulfilled(FulfilFailure::NotAStub { reference })
        }
        _ => SlotResult::Fulfilled(receipt),
    };
    Observation::SlotFilled { operation, result }
}

/// A message or a signal: what is awaited, or one that fits nothing so well.
fn arrival(number: u64, awaited: Option<(Channel, &str)>) -> Observation {
    let (channel, name) = awaited.unwrap_or(match number % 3 {
        0 => (Channel::Message, "add"),
        1 => (Channel::Signal, "bell"),
        _ => (Channel::Message, "unknown"),
    });
    let payload = match (channel, number % 5) {
        (_, 0) => value(13),
        (Channel::Message, _) => value(2),
        (Channel::Signal, _) => value(7),
    };
    told_of(channel, number, name.to_owned(), payload)
}

fn told_of(channel: Channel, number: u64, name: String, payload: Value) -> Observation {
    let told = Told {
        number,
        name,
        payload,
        key: number.is_multiple_of(2).then(|| format!("key-{number}")),
    };
    match channel {
        Channel::Message => Observation::MessageArrived(told),
        Channel::Signal => Observation::SignalArrived(told),
    }
}

fn answer(units: &[Unit], operation: u64, kind: u64) -> Observation {
    let mut decisions = units.iter().flat_map(|unit| &unit.decisions);
    let is_note = decisions.any(|decision| {
        matches!(decision, Decision::ActivityScheduled { operation: o, name, .. } if *o == operation && name == "note")
    });
    if operation % 5 == 4 && !is_note {
        let failure = match kind % 3 {
            0 => ActivityFailure::TimedOut,
            1 => ActivityFailure::Rejected {
                value: Value::encode("no").unwrap(),
            },
            _ => ActivityFailure::TooLarge { size: 9, limit: 8 },
        };
        return Observation::ActivityFailed { operation, failure };
    }
    let result = match is_note {
        true => Value::encode(&["noted"]).unwrap(),
        false => Value::encode(&operation).unwrap(),
    };
    Observation::ActivityCompleted { operation, result }
}

/// Feeds some bytes, and panics where what comes of them is neither a fit nor an exact error.
pub fn feed(bytes: &[u8]) {
    let Some((how, rest)) = bytes.split_first() else {
        return;
    };
    match how % 3 {
        0 => {
            if let Ok(text) = std::str::from_utf8(rest) {
                json(text);
            }
        }
        1 => records(rest),
        _ => changed(rest),
    }
}

/// A text that may be a history.
pub fn json(text: &str) {
    match History::from_json(text) {
        Ok(history) => judge(&history.units),
        Err(error) => {
            let said = error.to_string();
            assert!(!error.problem.is_empty() && said.len() < 2_000, "{said}");
        }
    }
}

/// Records of units, each with two bytes of length before it. Checksums are made to fit, so that damage gets past
/// them, and then left as they are.
pub fn records(mut bytes: &[u8]) {
    let mut units = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (record, rest) = rest.split_at(length);
        bytes = rest;
        for record in [record.to_vec(), sealed(record.to_vec())] {
            match decode_unit(&record) {
                Ok(unit) => units.push(unit),
                Err(error) => assert!(error.to_string().len() < 2_000),
            }
        }
    }
    judge(&units);
}

fn sealed(mut record: Vec<u8>) -> Vec<u8> {
    if record.len() >= 5 {
        record[0] = UNIT_VERSION;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&record[..1]);
        hasher.update(&record[5..]);
        record[1..5].copy_from_slice(&hasher.finalize().to_le_bytes());
    }
    record
}

/// A history that fits, as bytes for [`records`].
pub fn as_records(history: &History) -> Vec<u8> {
    let records = history.units.iter().map(encode_unit);
    let records = records.flat_map(|record| {
        let length = u16::try_from(record.len()).unwrap();
        length.to_le_bytes().into_iter().chain(record)
    });
    records.collect()
}

/// One of the histories that fit, changed step by step: four bytes each say what is done, and where.
pub fn changed(bytes: &[u8]) {
    let Some((which, steps)) = bytes.split_first() else {
        return;
    };
    let fitting = fitting();
    let mut units = fitting[usize::from(*which) % fitting.len()].units.clone();
    for step in steps.chunks_exact(4).take(64) {
        change(&mut units, [step[0], step[1], step[2], step[3]]);
    }
    judge(&units);
}

/// One step.
pub fn change(units: &mut Vec<Unit>, [what, a, b, c]: [u8; 4]) {
    if units.is_empty() {
        return;
    }
    let (a, b, c) = (usize::from(a), usize::from(b), usize::from(c));
    let (one, other) = (a % units.len(), b % units.len());
    let renumbered = what >= 128;
    match what % 16 {
        0 => drop(units.remove(one)),
        1 => units.insert(other, units[one].clone()),
        2 => units.swap(one, other),
        3 => units.truncate(one + 1),
        4 => {
            let observation = units[one].observation.clone();
            units[other].observation = observation;
        }
        5 => units[one].number = c as u64,
        6 => units[one].at = Timestamp::from_millis(c as u64),
        7 => match &mut units[one].observation {
            Observation::ActivityCompleted { operation, .. }
            | Observation::ActivityFailed { operation, .. }
            | Observation::SlotFilled { operation, .. }
            | Observation::TimerFired { operation }
            | Observation::StubFulfilled { operation, .. } => *operation = b as u64,
            Observation::Started(started) => match c % 7 {
                0 => started.semantics = u32::try_from(b).unwrap(),
                1 => started.first_operation = (b as u64).wrapping_sub(1),
                2 => started.workflow = word(b),
                3 => started.input = value(b),
                4 => started.generation = b as u64,
                5 => started.forked_from.push(ForkedFrom {
                    run: started.run.clone(),
                    last: b as u64,
                }),
                _ => started.artifact = word(b),
            },
            Observation::MessageArrived(told) | Observation::SignalArrived(told) => match c % 3 {
                0 => told.number = b as u64,
                1 => told.name = word(b),
                _ => told.payload = value(b),
            },
            _ => {}
        },
        8 if c >= 192 => units[one].observation = came_to(b as u64, c as u64, c as u64),
        8 if c >= 128 => {
            let channel = [Channel::Message, Channel::Signal][b % 2];
            units[one].observation = told_of(channel, b as u64 / 2, word(b), value(c));
        }
        8 => {
            let observation = &mut units[one].observation;
            *observation = Observation::ActivityCompleted {
                operation: b as u64,
                result: value(c),
            };
        }
        _ => decisions(&mut units[one].decisions, what, [b, c]),
    }
    if renumbered {
        // So that what is behind a gap is looked at too.
        let mut next = 1;
        for unit in units {
            unit.number = next;
            next = unit.last() + 1;
        }
    }
}

fn decisions(decisions: &mut Vec<Decision>, what: u8, [b, c]: [usize; 2]) {
    if decisions.is_empty() {
        return;
    }
    let (one, other) = (b % decisions.len(), c % decisions.len());
    match what % 16 {
        9 => drop(decisions.remove(one)),
        10 => decisions.insert(other, decisions[one].clone()),
        11 => decisions.swap(one, other),
        12 => decisions.truncate(one),
        13 => match &mut decisions[one] {
            Decision::ActivityScheduled { name, .. } => *name = word(c).into(),
            Decision::Recorded { source, .. } => {
                *source = match c % 3 {
                    0 => RecordSource::Random,
                    1 => RecordSource::Uuid,
                    _ => RecordSource::Named(word(c / 3)),
                };
            }
            Decision::Marker { id, version, .. } => {
                *version = u32::try_from(c % 4).unwrap();
                if c >= 128 {
                    *id = word(c).into();
                }
            }
            Decision::Emitted { stream, number, .. } => match c % 3 {
                0 => *number = c as u64,
                _ => *stream = word(c / 3).into(),
            },
            Decision::StubOffered { name, .. } => *name = word(c).into(),
            Decision::StubInvalid { problem, .. } => *problem = word(c),
            Decision::SetClosed { name, open, .. } => match c % 2 {
                0 => *name = word(c / 2).into(),
                _ => open.push(c as u64),
            },
            Decision::SendRequested {
                channel,
                name,
                payload,
                ..
            } => match c % 4 {
                0 => *channel = other_channel(*channel),
                1 => *payload = value(c / 4),
                _ => *name = word(c / 4).into(),
            },
            Decision::FulfilRequested {
                reference,
                stub,
                value: given,
                ..
            } => match c % 4 {
                0 => reference.number = c as u64,
                1 => *given = value(c / 4),
                _ => *stub = word(c / 4).into(),
            },
            Decision::ReceiveStarted { channel, name, .. } => match c % 3 {
                0 => *channel = other_channel(*channel),
                _ => *name = word(c / 3).into(),
            },
            Decision::Received {
                channel,
                number,
                invalid,
                ..
            } => match c % 4 {
                0 => *channel = other_channel(*channel),
                1 => *invalid = Some(word(c / 4)),
                2 => *invalid = None,
                _ => *number = c as u64 / 4,
            },
            _ => {}
        },
        14 => match &mut decisions[one] {
            Decision::ActivityScheduled { input, .. } | Decision::StubOffered { input, .. } => {
                *input = value(c);
            }
            Decision::Recorded {
                value: recorded, ..
            } => *recorded = value(c),
            Decision::Emitted { value: item, .. } => *item = value(c),
            Decision::UpdateAnswered { value: answer, .. } => *answer = value(c),
            Decision::Completed { value: result, .. } => *result = value(c),
            Decision::Failed { error, .. } => *error = value(c),
            _ => {}
        },
        _ => match &mut decisions[one] {
            Decision::ActivityScheduled { operation, .. }
            | Decision::TimerStarted { operation, .. }
            | Decision::ReceiveStarted { operation, .. }
            | Decision::StubOffered { operation, .. }
            | Decision::StubInvalid { operation, .. }
            | Decision::SendRequested { operation, .. }
            | Decision::FulfilRequested { operation, .. }
            | Decision::Received { operation, .. }
            | Decision::Dropped { operation } => *operation = c as u64,
            _ => {}
        },
    }
}

fn other_channel(channel: Channel) -> Channel {
    match channel {
        Channel::Message => Channel::Signal,
        Channel::Signal => Channel::Message,
    }
}

fn word(which: usize) -> String {
    let words = [
        "flow",
        "count",
        "note",
        "",
        "limit",
        "how",
        "in-a-round",
        "add",
        "bell",
        "a \"b\"\u{1b}[31m\n\r\u{202e}",
        "flwo",
    ];
    match which % 16 {
        15 => "x".repeat(70_000),
        at => words[at % words.len()].to_owned(),
    }
}

fn value(which: usize) -> Value {
    let values = [
        "null",
        "0",
        "7",
        "-1",
        "18446744073709551615",
        "1.5",
        "\"\"",
        "\"text\"",
        "[]",
        "[\"a\"]",
        "{}",
        "{\"message\":\"m\",\"causes\":[]}",
        "true",
        "[[1],[2]]",
        "\"\\u001b[2J\"",
    ];
    match which % 32 {
        31 => Value::encode(&"y".repeat(40_000)).unwrap(),
        at => Value::from_json(values[at % values.len()]).unwrap(),
    }
}

/// Replays the units; what does not fit is an exact error.
pub fn judge(units: &[Unit]) {
    let mut machine = Machine::new(
        WorkflowDefinition::of::<flow>(),
        &artifact(),
        Box::new(|| panic!("a replay draws")),
    );
    let mut bytes = 0;
    for (next, unit) in (1..).zip(units) {
        bytes += encode_unit(unit).len();
        if let Err(blocked) = machine.replay(unit.clone()) {
            let again = machine.replay(unit.clone()).unwrap_err();
            assert_eq!(blocked, again, "a blocked machine says it again");
            exact(&blocked, unit);
            exact(&blocked.look_ahead(&units[next..]), unit);
            break;
        }
    }
    let held = machine.memory();
    assert!(
        held < (1 << 20) + 8 * bytes,
        "{held} bytes are held for {bytes}"
    );
}

fn exact(blocked: &Blocked, unit: &Unit) {
    let Blocked::Incompatible(error) = blocked else {
        panic!("it is the history that does not fit, and not the code: {blocked}");
    };
    assert!(error.kind.code().starts_with("H2"));
    let text = blocked.to_string();
    assert!(text.len() < 64 << 10, "{} bytes", text.len());
    assert!(
        !text.contains(|c: char| c.is_control() && c != '\n'),
        "{text:?}"
    );
    let coloured = blocked.coloured();
    let mut plain = coloured.clone();
    for code in ["1", "2", "31", "32", "0"] {
        plain = plain.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(plain, text, "colours are all that is different");
    let json = serde_json::to_string(blocked).unwrap();
    assert!(json.len() < 256 << 10, "{} bytes", json.len());
    let details = Value::from_json(json).unwrap();
    assert_eq!(
        Incompatible::from_details(&details).as_ref(),
        Some(&**error)
    );
    assert!(error.recorded_next.len() <= 4 && error.asked_next.len() <= 4);
    let within = unit.number..=unit.last().saturating_add(1);
    // What does not decode is told where it was recorded, and a gap where it begins.
    assert!(
        error.event <= *within.end() || unit.number < error.event,
        "event {}",
        error.event
    );
}
