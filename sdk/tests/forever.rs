//! Histories that were written once and must replay for ever (S5, S15): `fixtures/histories`, and the workflows that
//! they belong to. The workflows here are released: never change one, add another.

#![allow(clippy::unwrap_used)]

#[path = "forever/shape.rs"]
mod shape;
#[path = "forever/told.rs"]
mod told;
#[path = "forever/workflows.rs"]
mod workflows;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use perennial::history::{
    ActivityFailure, CallSite, Channel, Close, Decision, History, Migrated, Observation,
    OpenOperation, RecordSource, SEMANTICS, SlotResult, Started, Told, UNIT_VERSION, Unit,
    decode_unit, encode_unit,
};
use perennial::machine::Machine;
use perennial::{
    Blocked, FulfilFailure, IncompatibleKind, Receipt, RunEnd, SendFailure, WorkflowDefinition,
};
use serde_json::Value as Json;

use shape::{fields, variants};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/histories/v1")
}

struct Fixture {
    name: String,
    json: String,
    records: Vec<Vec<u8>>,
}

fn fixtures() -> Vec<Fixture> {
    let files = fs::read_dir(folder()).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let fixture = |path: PathBuf| Fixture {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        json: fs::read_to_string(&path).unwrap(),
        records: fs::read_to_string(path.with_extension("hex"))
            .unwrap()
            .lines()
            .map(unhex)
            .collect(),
    };
    files.into_iter().map(fixture).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
    (0..text.len() / 2).map(byte).collect()
}

fn replay(units: &[Unit]) -> Result<bool, Blocked> {
    let workflow = match &units[0].observation {
        Observation::Started(started) => &started.workflow,
        Observation::Migrated(Migrated {
            unstarted: Some(started),
            ..
        }) => &started.workflow,
        other => panic!("it begins with {other:?}"),
    };
    let definitions = workflows::all();
    let definition = definitions.iter().find(|known| known.name == workflow);
    let definition: WorkflowDefinition =
        *definition.unwrap_or_else(|| panic!("no workflow `{workflow}`"));
    let mut machine = Machine::new(
        definition,
        &"today".into(),
        Box::new(|| panic!("a replay draws nothing")),
    );
    for unit in units {
        machine.replay(unit.clone())?;
    }
    Ok(machine.is_finished())
}

#[test]
fn each_history_is_read_to_the_byte_and_replays() {
    for Fixture {
        name,
        json,
        records,
    } in fixtures()
    {
        let history = History::from_json(&json).unwrap_or_else(|error| panic!("{name}: {error}"));
        let units: Vec<Unit> = records
            .iter()
            .map(|record| decode_unit(record).unwrap())
            .collect();
        assert_eq!(
            history.units, units,
            "{name}: JSON and records are the same history"
        );
        // While these are the forms that are written, they are written like this.
        assert_eq!(history.to_json().unwrap(), json, "{name}: JSON");
        assert_eq!(
            UNIT_VERSION, 1,
            "the version of records is another: add a folder, and compare with that one"
        );
        let written: Vec<_> = units.iter().map(encode_unit).collect();
        assert_eq!(written, records, "{name}: records");
        let finished = replay(&units).unwrap_or_else(|blocked| panic!("{name}:\n{blocked}"));
        let last = units.last().unwrap();
        let ended = last.observation.is_end() || last.decisions.iter().any(Decision::is_end);
        assert_eq!(finished, ended, "{name}");
    }
}

#[test]
fn s15_the_first_event_names_the_semantics_and_newer_ones_are_refused() {
    for Fixture { name, json, .. } in fixtures() {
        let mut units = History::from_json(&json).unwrap().units;
        let Observation::Started(started) = &mut units[0].observation else {
            continue;
        };
        assert_eq!(
            started.semantics, 1,
            "{name}: what is in this folder was written under the first semantics"
        );
        started.semantics = SEMANTICS + 1;
        let Err(Blocked::Incompatible(error)) = replay(&units) else {
            panic!("{name}: it was replayed under semantics that are not known here");
        };
        assert_eq!(
            (error.kind, error.event),
            (IncompatibleKind::Newer, 1),
            "{name}"
        );
        assert_eq!(error.kind.code(), "H214");
    }
}

/// All objects that stand anywhere in `json` under the key `key`, and the texts that stand there.
fn under<'a>(json: &'a Json, key: &str, found: &mut Vec<&'a Json>) {
    match json {
        Json::Object(members) => {
            for (name, value) in members {
                if name == key {
                    found.push(value);
                }
                under(value, key, found);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| under(item, key, found)),
        _ => {}
    }
}

fn all_under<'a>(histories: &'a [Json], key: &str) -> Vec<&'a Json> {
    let mut found = Vec::new();
    histories
        .iter()
        .for_each(|history| under(history, key, &mut found));
    found
        .into_iter()
        .flat_map(|found| match found {
            Json::Array(items) => items.iter().collect(),
            one => vec![one],
        })
        .collect()
}

/// Kinds and fields of an enum that are in none of the values.
fn missing_of_enum<T: serde::de::DeserializeOwned>(
    name: &str,
    found: &[&Json],
    missing: &mut BTreeSet<String>,
) {
    for (variant, fields) in variants::<T>() {
        let values: Vec<_> = found
            .iter()
            .filter_map(|json| match json {
                Json::String(text) if text == variant => Some(&Json::Null),
                Json::Object(members) => members.get(variant),
                _ => None,
            })
            .collect();
        if values.is_empty() {
            missing.insert(format!("{name}::{variant}"));
        }
        for field in fields {
            if !values.iter().any(|value| value.get(field).is_some()) {
                missing.insert(format!("{name}::{variant}.{field}"));
            }
        }
    }
}

fn missing_of_struct<T: serde::de::DeserializeOwned>(
    name: &str,
    found: &[&Json],
    missing: &mut BTreeSet<String>,
) {
    for field in fields::<T>() {
        if !found.iter().any(|value| value.get(field).is_some()) {
            missing.insert(format!("{name}.{field}"));
        }
    }
}

#[test]
fn there_is_a_history_with_each_kind_of_event_and_each_field() {
    let histories: Vec<Json> = fixtures()
        .iter()
        .map(|fixture| serde_json::from_str(&fixture.json).unwrap())
        .collect();
    let mut missing = BTreeSet::new();
    missing_of_struct::<History>(
        "History",
        &histories.iter().collect::<Vec<_>>(),
        &mut missing,
    );
    missing_of_struct::<Unit>("Unit", &all_under(&histories, "units"), &mut missing);
    missing_of_enum::<Observation>(
        "Observation",
        &all_under(&histories, "observation"),
        &mut missing,
    );
    missing_of_enum::<Decision>(
        "Decision",
        &all_under(&histories, "decisions"),
        &mut missing,
    );
    missing_of_enum::<ActivityFailure>(
        "ActivityFailure",
        &all_under(&histories, "failure"),
        &mut missing,
    );
    missing_of_enum::<RecordSource>(
        "RecordSource",
        &all_under(&histories, "source"),
        &mut missing,
    );
    let filled = all_under(&histories, "slot_filled");
    let mut results = Vec::new();
    filled
        .iter()
        .for_each(|filled| under(filled, "result", &mut results));
    missing_of_enum::<SlotResult>("SlotResult", &results, &mut missing);
    missing_of_struct::<Receipt>("Receipt", &all_under(&histories, "sent"), &mut missing);
    missing_of_enum::<SendFailure>(
        "SendFailure",
        &all_under(&histories, "not_sent"),
        &mut missing,
    );
    let given = all_under(&histories, "fulfilled");
    missing_of_struct::<Receipt>("Receipt", &given, &mut missing);
    missing_of_enum::<FulfilFailure>(
        "FulfilFailure",
        &all_under(&histories, "not_fulfilled"),
        &mut missing,
    );
    missing_of_enum::<RunEnd>("RunEnd", &all_under(&histories, "end"), &mut missing);
    missing_of_enum::<Channel>("Channel", &all_under(&histories, "channel"), &mut missing);
    missing_of_enum::<Close>("Close", &all_under(&histories, "close"), &mut missing);
    for kind in ["message_arrived", "signal_arrived"] {
        missing_of_struct::<Told>(kind, &all_under(&histories, kind), &mut missing);
    }
    missing_of_struct::<CallSite>("CallSite", &all_under(&histories, "site"), &mut missing);
    missing_of_struct::<OpenOperation>(
        "OpenOperation",
        &all_under(&histories, "open"),
        &mut missing,
    );
    missing_of_struct::<Started>("Started", &all_under(&histories, "started"), &mut missing);
    assert!(
        missing.is_empty(),
        "no history in `fixtures/histories` has these: {missing:#?}\nhelp: see the README there"
    );
}

#[test]
fn what_is_looked_for_is_all_that_there_is() {
    let kinds: Vec<_> = variants::<Observation>()
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    assert!(
        kinds.starts_with(&["started", "activity_completed"]),
        "{kinds:?}"
    );
    let kinds: Vec<_> = variants::<Decision>();
    assert!(
        kinds
            .iter()
            .any(|(kind, fields)| *kind == "marker" && fields.contains(&"version")),
        "{kinds:?}"
    );
    assert!(fields::<Started>().contains(&"migrated_from"));
    let known = variants::<ActivityFailure>();
    assert!(
        known
            .iter()
            .any(|(kind, fields)| *kind == "timed_out" && fields.is_empty()),
        "{known:?}"
    );
}

#[test]
#[ignore = "writes the fixtures that are missing"]
fn canned() {
    for (name, history) in told::histories() {
        let path = folder().join(name).with_extension("json");
        if path.exists() {
            continue;
        }
        fs::write(&path, history.to_json().unwrap()).unwrap();
        let records: Vec<_> = history
            .units
            .iter()
            .map(|unit| hex(&encode_unit(unit)) + "\n")
            .collect();
        fs::write(path.with_extension("hex"), records.concat()).unwrap();
    }
}
