//! The forms of a history: records, JSON, text (S5, O52).

#![allow(clippy::unwrap_used)]

use perennial::history::{
    ActivityFailure, CallSite, Decision, History, Migrated, Observation, OpenOperation,
    RecordSource, Render, SEMANTICS, Started, UNIT_VERSION, Unit, decode_unit, encode_unit, render,
};
use perennial::value::Value;
use perennial::wire::{RecordError, RecordWriter};
use perennial::{Namespace, RunId, RunKey, Timestamp};

// ---- every kind of event ---------------------------------------------------------------------------------

fn value(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

fn site(file: &'static str, line: u32, function: &'static str) -> Option<CallSite> {
    Some(CallSite {
        file: file.into(),
        line,
        column: 9,
        function: function.into(),
    })
}

/// Two histories with every kind of event, of decision, of failure and of source in them.
fn every_kind() -> Vec<Unit> {
    let observations = [
        Observation::Started(Started {
            workflow: "fulfil".into(),
            input: value(r#"{"id":"A-1","cents":1200}"#),
            semantics: SEMANTICS,
            artifact: "7f3c".into(),
            namespace: Namespace::default(),
            run: RunId::new("order-42").unwrap(),
            generation: 2,
            first_operation: 8,
            version: None,
            migrated_from: None,
            forked_from: Vec::new(),
            streams: Vec::new(),
        }),
        Observation::ActivityCompleted {
            operation: 8,
            result: value(r#"{"receipt":"R-1"}"#),
        },
        Observation::ActivityFailed {
            operation: 9,
            failure: ActivityFailure::Rejected {
                value: value(r#"{"why":"no \"funds\""}"#),
            },
        },
        Observation::ActivityFailed {
            operation: 10,
            failure: ActivityFailure::RetriesExhausted {
                last: "connection refused\n(os error 111)".into(),
                attempts: 5,
            },
        },
        Observation::ActivityFailed {
            operation: 11,
            failure: ActivityFailure::TimedOut,
        },
        Observation::ActivityFailed {
            operation: 12,
            failure: ActivityFailure::Cancelled,
        },
        Observation::ActivityFailed {
            operation: 13,
            failure: ActivityFailure::TooLarge {
                size: 2_000_000,
                limit: 1_048_576,
            },
        },
        Observation::TimerFired { operation: 14 },
    ];
    let activity = |operation, name: &'static str, input: &str, line| Decision::ActivityScheduled {
        operation,
        name: name.into(),
        input: value(input),
        site: site("src/orders.rs", line, "fulfil"),
    };
    let open = vec![
        OpenOperation {
            operation: 15,
            name: "refund".into(),
        },
        OpenOperation {
            operation: 16,
            name: "charge".into(),
        },
    ];
    let decisions = [
        vec![
            activity(8, "charge", r#"{"id":"A-1","cents":1200}"#, 31),
            activity(9, "charge", "1", 31),
            activity(10, "charge", "2", 31),
            activity(11, "charge", "3", 31),
            activity(12, "charge", "4", 31),
            activity(13, "charge", "5", 31),
            Decision::TimerStarted {
                operation: 14,
                deadline: Timestamp::from_millis(1_700_000_600_000),
                site: site("src/deeply/nested/module/with/a/long/path/timers.rs", 7, ""),
            },
        ],
        vec![
            Decision::Recorded {
                source: RecordSource::Random,
                value: value("4711"),
                site: site("src/orders.rs", 40, ""),
            },
            Decision::Recorded {
                source: RecordSource::Uuid,
                value: value("\"6f2d9c9e-6f0a-4a54-8d39-0c2a1e4a2b11\""),
                site: None,
            },
            Decision::Recorded {
                source: RecordSource::Named("limit".into()),
                value: value("5"),
                site: site("src/orders.rs", 41, ""),
            },
        ],
        vec![
            activity(15, "refund", &format!("\"{}\"", "long ".repeat(60)), 50),
            activity(16, "charge", "null", 51),
        ],
        vec![
            Decision::Dropped { operation: 15 },
            Decision::Dropped { operation: 16 },
        ],
        vec![],
        vec![],
        vec![],
        vec![Decision::Completed {
            value: value("[1,2.5,null]"),
            open: open.clone(),
        }],
    ];
    let mut units = Vec::new();
    let mut number = 1;
    for (at, (observation, decisions)) in (0..).zip(observations.into_iter().zip(decisions)) {
        let unit = Unit {
            number,
            at: Timestamp::from_millis(1_700_000_000_000 + at * 1_500),
            observation,
            decisions,
        };
        number = unit.last() + 1;
        units.push(unit);
    }
    // The other end, in place of the first.
    units.push(Unit {
        decisions: vec![Decision::Failed {
            error: value(r#""no more""#),
            open,
        }],
        ..units[7].clone()
    });
    units
}

#[test]
fn the_text_shows_what_happened_and_is_stable() {
    let text = render(&every_kind(), Render::default());
    insta::assert_snapshot!(text, @r#"
     1 started      fulfil {"cents":1200,"id":"A-1"}
     2   activity   ~1 charge {"cents":1200,"id":"A-1"}              orders.rs fulfil
     3   activity   ~2 charge 1                                      orders.rs fulfil
     4   activity   ~3 charge 2                                      orders.rs fulfil
     5   activity   ~4 charge 3                                      orders.rs fulfil
     6   activity   ~5 charge 4                                      orders.rs fulfil
     7   activity   ~6 charge 5                                      orders.rs fulfil
     8   sleep      ~7                                               timers.rs
     9 completed    ~1 charge {"receipt":"R-1"}
    10   random                                                      orders.rs
    11   uuid
    12   recorded   limit 5                                          orders.rs
    13 failed       ~2 charge rejected {"why":"no \"funds\""}
    14   activity   ~8 refund                                        orders.rs fulfil
              "long long long long long long long long long long long long long long long long "
              "long long long long long long long long long long long long long long long long "
              "long long long long long long long long long long long long long long long long "
              "long long long long long long long long long long long long "
    15   activity   ~9 charge null                                   orders.rs fulfil
    16 failed       ~3 charge retries exhausted after 5: connection refused\n(os error 111)
    17   dropped    ~8 refund
    18   dropped    ~9 charge
    19 failed       ~4 charge timed out
    20 failed       ~5 charge cancelled
    21 failed       ~6 charge too large: 2000000 bytes of at most 1048576
    22 fired        ~7 sleep
    23 completed    [1,2.5,null]   left open: ~8 refund, ~9 charge
    22 fired        ~7 sleep
    23 failed       "no more"   left open: ~8 refund, ~9 charge
    "#);
}

#[test]
fn the_text_can_show_times_and_lines() {
    let mut options = Render::default();
    options.times = true;
    options.lines = true;
    insta::assert_snapshot!(render(&every_kind(), options), @r#"
     1 started      fulfil {"cents":1200,"id":"A-1"}   2023-11-14T22:13:20.000Z
     2   activity   ~1 charge {"cents":1200,"id":"A-1"}              src/orders.rs:31:9 fulfil
     3   activity   ~2 charge 1                                      src/orders.rs:31:9 fulfil
     4   activity   ~3 charge 2                                      src/orders.rs:31:9 fulfil
     5   activity   ~4 charge 3                                      src/orders.rs:31:9 fulfil
     6   activity   ~5 charge 4                                      src/orders.rs:31:9 fulfil
     7   activity   ~6 charge 5                                      src/orders.rs:31:9 fulfil
     8   sleep      ~7   until 2023-11-14T22:23:20.000Z              src/deeply/nested/module/with/a/long/path/timers.rs:7:9
     9 completed    ~1 charge {"receipt":"R-1"}   2023-11-14T22:13:21.500Z
    10   random                                                      src/orders.rs:40:9
    11   uuid
    12   recorded   limit 5                                          src/orders.rs:41:9
    13 failed       ~2 charge rejected {"why":"no \"funds\""}   2023-11-14T22:13:23.000Z
    14   activity   ~8 refund                                        src/orders.rs:50:9 fulfil
              "long long long long long long long long long long long long long long long long "
              "long long long long long long long long long long long long long long long long "
              "long long long long long long long long long long long long long long long long "
              "long long long long long long long long long long long long "
    15   activity   ~9 charge null                                   src/orders.rs:51:9 fulfil
    16 failed       ~3 charge retries exhausted after 5: connection refused\n(os error 111)   2023-11-14T22:13:24.500Z
    17   dropped    ~8 refund
    18   dropped    ~9 charge
    19 failed       ~4 charge timed out   2023-11-14T22:13:26.000Z
    20 failed       ~5 charge cancelled   2023-11-14T22:13:27.500Z
    21 failed       ~6 charge too large: 2000000 bytes of at most 1048576   2023-11-14T22:13:29.000Z
    22 fired        ~7 sleep   2023-11-14T22:13:30.500Z
    23 completed    [1,2.5,null]   left open: ~8 refund, ~9 charge
    22 fired        ~7 sleep   2023-11-14T22:13:30.500Z
    23 failed       "no more"   left open: ~8 refund, ~9 charge
    "#);
}

/// A later generation goes on with the numbers of the one before, and a reference has those.
#[test]
fn o55_the_text_can_have_the_numbers_of_references() {
    let text = |references| {
        let mut options = Render::default();
        options.references = references;
        render(&every_kind(), options)
    };
    let first = |text: String| {
        let line = text.lines().find(|line| line.contains(" activity "));
        line.map(str::to_owned).unwrap_or_default()
    };
    assert!(first(text(false)).contains("~1 charge"));
    assert!(first(text(true)).contains("~8 charge"));
    // An event says itself about which operation it is.
    let units = every_kind();
    assert_eq!(units[0].observation.operation(), None);
    assert_eq!(units[0].decisions[0].operation(), Some(8));
    assert_eq!(units[1].observation.operation(), Some(8));
}

#[test]
fn the_text_of_a_part_of_a_history_says_what_it_does_not_know() {
    let text = render(&every_kind()[2..4], Render::default());
    insta::assert_snapshot!(text, @r#"
    13 failed       ~9 ? rejected {"why":"no \"funds\""}
    14   activity   ~15 refund                                       orders.rs fulfil
              "long long long long long long long long long long long long long long long long "
              "long long long long long long long long long long long long long long long long "
              "long long long long long long long long long long long long long long long long "
              "long long long long long long long long long long long long "
    15   activity   ~16 charge null                                  orders.rs fulfil
    16 failed       ~10 ? retries exhausted after 5: connection refused\n(os error 111)
    17   dropped    ~15 refund
    18   dropped    ~16 charge
    "#);
    assert_eq!(render(&[], Render::default()), "");
}

#[test]
fn a_history_knows_its_length_and_the_numbers_of_its_events() {
    let mut units = every_kind();
    units.pop();
    let history = History {
        run: RunKey::new(Namespace::default(), RunId::new("order-42").unwrap()),
        generation: 2,
        units,
    };
    let numbers: Vec<_> = history.events().map(|(number, _)| number).collect();
    assert_eq!(numbers, (1..=history.length()).collect::<Vec<_>>());
    let text = serde_json::to_string(&history).unwrap();
    assert_eq!(serde_json::from_str::<History>(&text).unwrap(), history);
    insta::assert_snapshot!(&text[..400], @r#"{"run":{"namespace":"default","id":"order-42"},"generation":2,"units":[{"number":1,"at":1700000000000,"observation":{"started":{"workflow":"fulfil","input":{"id":"A-1","cents":1200},"semantics":1,"artifact":"7f3c","namespace":"default","run":"order-42","generation":2,"first_operation":8}},"decisions":[{"activity_scheduled":{"operation":8,"name":"charge","input":{"id":"A-1","cents":1200},"site":{"f"#);
}

#[test]
fn o52_json_with_an_event_of_an_unknown_kind_or_a_value_that_is_not_exact_is_refused() {
    let unit = |observation: &str, decisions: &str| {
        let text = format!(
            r#"{{"number":1,"at":1,"observation":{observation},"decisions":[{decisions}]}}"#
        );
        serde_json::from_str::<Unit>(&text).unwrap_err().to_string()
    };
    let fired = r#"{"timer_fired":{"operation":1}}"#;
    let texts = [
        unit(r#"{"update_arrived":{"number":1}}"#, ""),
        unit(fired, r#"{"child_started":{"id":"x"}}"#),
        unit(
            fired,
            r#"{"completed":{"value":{"n":18446744073709551616}}}"#,
        ),
        unit(r#"{"timer_fired":{}}"#, ""),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    unknown variant `update_arrived`, expected one of `started`, `activity_completed`, `activity_failed`, `timer_fired`, `message_arrived`, `signal_arrived`, `stub_fulfilled`, `update_accepted`, `slot_filled`, `migrated` at line 1 column 50
    unknown variant `child_started`, expected one of `activity_scheduled`, `timer_started`, `receive_started`, `received`, `stub_offered`, `stub_invalid`, `send_requested`, `fulfil_requested`, `recorded`, `emitted`, `update_answered`, `marker`, `set_closed`, `dropped`, `completed`, `failed` at line 1 column 94
    the integer 18446744073709551616 does not fit into 64 bits at line 1 column 127
    missing field `operation` at line 1 column 50
    ");
}

// ---- records ---------------------------------------------------------------------------------------------

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
        .collect()
}

/// Each line is one record, as some version of this crate has written it. Never change one: a store out
/// there has it.
#[test]
fn records_of_every_schema_version_decode_for_ever() {
    let canned = include_str!("fixtures/units-v1.hex");
    let units: Vec<Unit> = canned
        .lines()
        .map(|line| decode_unit(&unhex(line)).unwrap())
        .collect();
    assert_eq!(units, every_kind());
    // While this is the version that is written, it is written to the byte like this.
    if UNIT_VERSION == 1 {
        let written: Vec<_> = units.iter().map(|unit| hex(&encode_unit(unit))).collect();
        assert_eq!(written, canned.lines().collect::<Vec<_>>());
    }
}

#[test]
#[ignore = "prints the canned records for a new schema version"]
fn canned() {
    let moved = [moved(false), moved(true)]
        .into_iter()
        .filter_map(|mut units| units.pop());
    for unit in every_kind().into_iter().chain(moved) {
        println!("{}", hex(&encode_unit(&unit)));
    }
}

#[test]
fn o52_an_event_of_an_unknown_kind_refuses_its_unit() {
    for kind in [24, 63, 73, 83, 87, 1 << 20, u32::MAX >> 3] {
        let mut record = RecordWriter::new(UNIT_VERSION);
        let mut fields = record.fields();
        fields.number(1, 1);
        fields.number(2, 1);
        fields.nested(19, |f| f.number(1, 1));
        fields.nested(kind, |f| f.number(1, 1));
        let expected = RecordError::UnknownKind { kind: kind.into() };
        assert_eq!(decode_unit(&record.finish()), Err(expected));
    }
}

#[test]
fn fields_that_an_older_reader_need_not_understand_are_passed_over() {
    let mut record = RecordWriter::new(UNIT_VERSION);
    let mut fields = record.fields();
    fields.number(1, 1);
    fields.text(9, "new, beside the events");
    fields.number(2, 7);
    fields.nested(19, |f| {
        f.number(1, 3);
        f.text(90, "new, in an event");
    });
    let unit = decode_unit(&record.finish()).unwrap();
    assert_eq!(unit.observation, Observation::TimerFired { operation: 3 });
}

#[test]
fn newer_damaged_and_cut_records_are_told_apart() {
    let unit = &every_kind()[0];
    let newer = RecordWriter::new(UNIT_VERSION + 1).finish();
    let mut damaged = encode_unit(unit);
    damaged[20] ^= 4;
    let whole = encode_unit(unit);
    let empty = RecordWriter::new(UNIT_VERSION).finish();
    let texts = [
        decode_unit(&newer),
        decode_unit(&damaged),
        decode_unit(&whole[..whole.len() - 1]),
        decode_unit(&whole[..3]),
        decode_unit(&[]),
        decode_unit(&empty),
    ]
    .map(|result| result.unwrap_err().to_string());
    insta::assert_snapshot!(texts.join("\n"), @"
    the record was written by newer software (schema 2; this one understands up to 1)
    the record is damaged: the checksum does not fit
    the record is damaged: the checksum does not fit
    the record is damaged: it is cut short
    the record is damaged: it is cut short
    the record's field `number` is missing or malformed
    ");
}

#[test]
fn each_field_that_is_missing_or_wrong_is_named() {
    type Write = fn(&mut perennial::wire::FieldWriter<'_>);
    let cases: [Write; 9] = [
        |f| f.number(2, 1),
        |f| {
            f.number(1, 0);
            f.number(2, 1);
            f.nested(19, |f| f.number(1, 1));
        },
        |f| {
            f.number(1, u64::MAX);
            f.number(2, 1);
            f.nested(19, |f| f.number(1, 1));
            f.nested(67, |f| f.number(1, 1));
        },
        |f| {
            f.number(1, 1);
            f.nested(19, |f| f.number(1, 1));
        },
        |f| {
            f.number(1, 1);
            f.number(2, 1);
        },
        |f| f.text(1, "one"),
        |f| f.nested(19, |f| f.text(1, "three")),
        |f| {
            f.nested(18, |f| {
                f.number(1, 1);
                f.nested(2, |f| f.number(1, 99));
            })
        },
        |f| {
            f.nested(66, |f| {
                f.number(1, 9);
                f.text(3, "1");
            })
        },
    ];
    let texts = cases.map(|write| {
        let mut record = RecordWriter::new(UNIT_VERSION);
        write(&mut record.fields());
        decode_unit(&record.finish()).unwrap_err().to_string()
    });
    insta::assert_snapshot!(texts.join("\n"), @"
    the record's field `number` is missing or malformed
    the record's field `number` is missing or malformed
    the record's field `number` is missing or malformed
    the record's field `at` is missing or malformed
    the record's field `observation` is missing or malformed
    the record's field `number` is missing or malformed
    the record's field `operation` is missing or malformed
    the record's field `failure` is missing or malformed
    the record's field `source` is missing or malformed
    ");
}

#[test]
fn two_observations_are_one_too_many() {
    let mut record = RecordWriter::new(UNIT_VERSION);
    let mut fields = record.fields();
    fields.number(1, 1);
    fields.number(2, 1);
    fields.nested(19, |f| f.number(1, 1));
    fields.nested(19, |f| f.number(1, 2));
    let expected = RecordError::Malformed {
        field: "observation",
    };
    assert_eq!(decode_unit(&record.finish()), Err(expected));
}

// ---- a run that was moved to a new one -------------------------------------------------------------------

fn moved(unstarted: bool) -> Vec<Unit> {
    let mut units = every_kind();
    units.truncate(1);
    let Observation::Started(started) = units[0].observation.clone() else {
        panic!("it begins with `started`");
    };
    let open = |operation| OpenOperation {
        operation,
        name: "charge".into(),
    };
    let migrated = Migrated {
        to: RunId::new("order-42-v2").unwrap(),
        workflow: "fulfil_v2".into(),
        migration: "to_v2".into(),
        artifact: "81aa".into(),
        kept: if unstarted {
            vec![]
        } else {
            vec![open(8), open(9)]
        },
        stopped: if unstarted { vec![] } else { vec![14] },
        unstarted: unstarted.then(|| Box::new(started)),
    };
    if unstarted {
        units.clear();
    }
    units.push(Unit {
        number: units.last().map_or(0, Unit::last) + 1,
        at: Timestamp::from_millis(1_700_000_001_000),
        observation: Observation::Migrated(migrated),
        decisions: vec![],
    });
    units
}

#[test]
fn s38_the_end_of_a_run_that_was_moved_comes_back_from_its_record_and_its_json() {
    let canned = [
        include_str!("fixtures/migrated-v1.hex"),
        include_str!("fixtures/migrated-unstarted-v1.hex"),
    ];
    for (unstarted, canned) in [false, true].into_iter().zip(canned) {
        let unit = moved(unstarted).pop().unwrap();
        assert_eq!(hex(&encode_unit(&unit)), canned.trim_end());
        assert_eq!(decode_unit(&unhex(canned.trim_end())).unwrap(), unit);
        let json = serde_json::to_string(&unit).unwrap();
        assert_eq!(serde_json::from_str::<Unit>(&json).unwrap(), unit);
        assert!(unit.observation.is_end());
    }
    let json = serde_json::to_string(&moved(true).pop().unwrap()).unwrap();
    insta::assert_snapshot!(json, @r#"{"number":1,"at":1700000001000,"observation":{"migrated":{"to":"order-42-v2","workflow":"fulfil_v2","migration":"to_v2","artifact":"81aa","unstarted":{"workflow":"fulfil","input":{"id":"A-1","cents":1200},"semantics":1,"artifact":"7f3c","namespace":"default","run":"order-42","generation":2,"first_operation":8}}}}"#);
}

#[test]
fn s38_the_text_of_a_run_that_was_moved_says_where_its_operations_are_left() {
    let text = |units: &[Unit]| render(units, Render::default());
    let units = moved(false);
    let whole = text(&units);
    insta::assert_snapshot!(whole.lines().last().unwrap(), @" 9 migrated     to fulfil_v2 by to_v2   left open: ~1 charge, ~2 charge   stopped: ~7 sleep");
    insta::assert_snapshot!(text(&moved(true)), @r#" 1 migrated     to fulfil_v2 by to_v2 {"cents":1200,"id":"A-1"}   not begun"#);
}
