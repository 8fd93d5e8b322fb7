//! Any unit comes back from each of its forms, and whatever bytes are given are decoded or refused (S5).

#![allow(clippy::unwrap_used)]

use perennial::history::{
    ActivityFailure, CallSite, Channel, Close, Decision, ForkedFrom, Migrated, Observation,
    OpenOperation, RecordSource, Render, SlotResult, Started, StreamEnd, Told, UNIT_VERSION, Unit,
    decode_unit, encode_unit, render,
};
use perennial::value::Value;
use perennial::{
    FulfilFailure, Namespace, OperationId, Receipt, RunEnd, RunId, SendFailure, Timestamp,
};
use proptest::prelude::*;

#[path = "fuzz_history/input.rs"]
mod input;

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        (-1e9..1e9_f64).prop_map(Into::into),
        ".{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
    .prop_flat_map(|value| {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_oneof![Just(value.to_string()), Just(pretty)]
    })
    .prop_map(|text| Value::from_json(text).unwrap())
}

fn sites() -> impl Strategy<Value = Option<CallSite>> {
    prop::option::of((".{0,20}", any::<u32>(), any::<u32>(), ".{0,9}").prop_map(
        |(file, line, column, function)| CallSite {
            file: file.into(),
            line,
            column,
            function: function.into(),
        },
    ))
}

fn ids() -> impl Strategy<Value = String> {
    "[A-Za-z0-9._:-]{1,128}"
}

fn started() -> impl Strategy<Value = Started> {
    let streams = (".{0,9}", any::<u64>()).prop_map(|(name, last)| StreamEnd { name, last });
    let forks = (ids(), any::<u64>()).prop_map(|(run, last)| ForkedFrom {
        run: RunId::new(run).unwrap(),
        last,
    });
    let labels = (
        prop::option::of(any::<u32>()),
        prop::option::of(ids()),
        prop::collection::vec(streams, 0..3),
        prop::collection::vec(forks, 0..3),
    );
    (
        ".{0,20}",
        json(),
        any::<u32>(),
        ".{0,9}",
        (ids(), ids()),
        any::<(u64, u64)>(),
        labels,
    )
        .prop_map(
            |(workflow, input, semantics, artifact, (namespace, run), numbers, labels)| Started {
                workflow,
                input,
                semantics,
                artifact,
                namespace: Namespace::new(namespace).unwrap(),
                run: RunId::new(run).unwrap(),
                generation: numbers.0,
                first_operation: numbers.1,
                version: labels.0,
                migrated_from: labels.1.map(|run| RunId::new(run).unwrap()),
                streams: labels.2,
                forked_from: labels.3,
            },
        )
}

fn migrated() -> impl Strategy<Value = Migrated> {
    let open = prop::collection::vec(open(), 0..3);
    let stopped = prop::collection::vec(any::<u64>(), 0..3);
    let names = (".{0,9}", ".{0,9}", ".{0,9}");
    (ids(), names, open, stopped, prop::option::of(started())).prop_map(
        |(to, (workflow, migration, artifact), kept, stopped, unstarted)| Migrated {
            to: RunId::new(to).unwrap(),
            workflow,
            migration,
            artifact,
            kept,
            stopped,
            unstarted: unstarted.map(Box::new),
        },
    )
}

fn observations() -> impl Strategy<Value = Observation> {
    let failure = prop_oneof![
        json().prop_map(|value| ActivityFailure::Rejected { value }),
        (".{0,20}", any::<u32>())
            .prop_map(|(last, attempts)| ActivityFailure::RetriesExhausted { last, attempts }),
        Just(ActivityFailure::TimedOut),
        Just(ActivityFailure::Cancelled),
        any::<(u64, u64)>().prop_map(|(size, limit)| ActivityFailure::TooLarge { size, limit }),
    ];
    prop_oneof![
        started().prop_map(Observation::Started),
        migrated().prop_map(Observation::Migrated),
        (any::<u64>(), json()).prop_map(|(operation, result)| {
            Observation::ActivityCompleted { operation, result }
        }),
        (any::<u64>(), failure)
            .prop_map(|(operation, failure)| Observation::ActivityFailed { operation, failure }),
        any::<u64>().prop_map(|operation| Observation::TimerFired { operation }),
        told().prop_map(Observation::MessageArrived),
        told().prop_map(Observation::SignalArrived),
        (any::<u64>(), json(), prop::option::of(".{0,9}")).prop_map(|(operation, value, key)| {
            Observation::StubFulfilled {
                operation,
                value,
                key,
            }
        }),
        (".{0,9}", json(), prop::option::of(".{0,9}"))
            .prop_map(|(name, input, key)| Observation::UpdateAccepted { name, input, key }),
        (any::<u64>(), slots())
            .prop_map(|(operation, result)| Observation::SlotFilled { operation, result }),
    ]
}

fn told() -> impl Strategy<Value = Told> {
    let key = prop::option::of(".{0,9}");
    (any::<u64>(), ".{0,9}", json(), key).prop_map(|(number, name, payload, key)| Told {
        number,
        name,
        payload,
        key,
    })
}

fn runs() -> impl Strategy<Value = RunId> {
    "[a-z0-9._-]{1,9}".prop_map(|id| RunId::new(id).unwrap())
}

fn slots() -> impl Strategy<Value = SlotResult> {
    let end = prop_oneof![
        Just(RunEnd::Completed),
        Just(RunEnd::Failed),
        runs().prop_map(|to| RunEnd::Migrated { to }),
    ];
    let failure = prop_oneof![
        runs().prop_map(|run| SendFailure::RunNotFound { run }),
        (runs(), end, any::<u64>()).prop_map(|(run, end, finished)| SendFailure::RunFinished {
            run,
            end,
            finished: Timestamp::from_millis(finished),
        }),
        (runs(), any::<u64>()).prop_map(|(run, limit)| SendFailure::InboxFull { run, limit }),
        (runs(), ".{0,9}", ".{0,9}").prop_map(|(run, workflow, name)| {
            SendFailure::NoSuchMessage {
                run,
                workflow,
                name,
            }
        }),
        runs().prop_map(|run| SendFailure::Conflict { run }),
        (runs(), ".{0,20}").prop_map(|(run, problem)| SendFailure::Unreadable { run, problem }),
        any::<(u64, u64)>().prop_map(|(size, limit)| SendFailure::TooLarge { size, limit }),
    ];
    let receipt = || {
        let parts = (any::<(u64, u64)>(), any::<bool>());
        parts.prop_map(|((number, at), duplicate)| Receipt {
            number,
            at: Timestamp::from_millis(at),
            duplicate,
        })
    };
    prop_oneof![
        receipt().prop_map(SlotResult::Sent),
        failure.prop_map(SlotResult::NotSent),
        receipt().prop_map(SlotResult::Fulfilled),
        unfulfilled().prop_map(SlotResult::NotFulfilled),
    ]
}

fn references() -> impl Strategy<Value = OperationId> {
    (runs(), any::<u64>()).prop_map(|(run, number)| OperationId { run, number })
}

/// Why an offer was not fulfilled.
fn unfulfilled() -> impl Strategy<Value = FulfilFailure> {
    use FulfilFailure as Failure;
    let end = prop_oneof![
        Just(None),
        Just(Some(RunEnd::Completed)),
        Just(Some(RunEnd::Failed)),
        runs().prop_map(|to| Some(RunEnd::Migrated { to })),
    ];
    prop_oneof![
        references().prop_map(|reference| Failure::RunNotFound { reference }),
        references().prop_map(|reference| Failure::Purged { reference }),
        references().prop_map(|reference| Failure::NoSuchOperation { reference }),
        references().prop_map(|reference| Failure::NotAStub { reference }),
        (references(), ".{0,9}", ".{0,9}").prop_map(|(reference, is, given)| {
            Failure::OtherStub {
                reference,
                is,
                given,
            }
        }),
        (references(), ".{0,9}")
            .prop_map(|(reference, stub)| Failure::Conflict { reference, stub }),
        (references(), ".{0,9}", any::<u64>(), end).prop_map(|(reference, stub, at, end)| {
            Failure::Closed {
                reference,
                stub,
                at: Timestamp::from_millis(at),
                end,
            }
        }),
        (references(), ".{0,20}")
            .prop_map(|(reference, problem)| Failure::Unreadable { reference, problem }),
        any::<(u64, u64)>().prop_map(|(size, limit)| Failure::TooLarge { size, limit }),
    ]
}

fn channels() -> impl Strategy<Value = Channel> {
    prop_oneof![Just(Channel::Message), Just(Channel::Signal)]
}

fn open() -> impl Strategy<Value = OpenOperation> {
    (any::<u64>(), ".{0,9}").prop_map(|(operation, name)| OpenOperation { operation, name })
}

fn decisions() -> impl Strategy<Value = Decision> {
    let source = prop_oneof![
        Just(RecordSource::Random),
        Just(RecordSource::Uuid),
        ".{0,9}".prop_map(RecordSource::Named),
    ];
    let end = || (json(), prop::collection::vec(open(), 0..3));
    prop_oneof![
        (any::<u64>(), ".{0,20}", json(), sites()).prop_map(|(operation, name, input, site)| {
            Decision::ActivityScheduled {
                operation,
                name: name.into(),
                input,
                site,
            }
        }),
        (any::<u64>(), any::<u64>(), sites()).prop_map(|(operation, deadline, site)| {
            Decision::TimerStarted {
                operation,
                deadline: Timestamp::from_millis(deadline),
                site,
            }
        }),
        (source, json(), sites()).prop_map(|(source, value, site)| Decision::Recorded {
            source,
            value,
            site
        }),
        (".{0,9}", any::<u32>(), sites()).prop_map(|(id, version, site)| Decision::Marker {
            id: id.into(),
            version,
            site,
        }),
        (json(), sites()).prop_map(|(value, site)| Decision::UpdateAnswered { value, site }),
        (".{0,9}", any::<u64>(), json(), sites()).prop_map(|(stream, number, value, site)| {
            Decision::Emitted {
                stream: stream.into(),
                number,
                value,
                site,
            }
        }),
        (any::<u64>(), channels(), ".{0,9}", sites()).prop_map(
            |(operation, channel, name, site)| Decision::ReceiveStarted {
                operation,
                channel,
                name: name.into(),
                site,
            }
        ),
        (any::<(u64, u64)>(), channels(), prop::option::of(".{0,20}")).prop_map(
            |((operation, number), channel, invalid)| Decision::Received {
                operation,
                channel,
                number,
                invalid,
            }
        ),
        (any::<u64>(), ".{0,20}", json(), sites()).prop_map(|(operation, name, input, site)| {
            Decision::StubOffered {
                operation,
                name: name.into(),
                input,
                site,
            }
        }),
        (any::<u64>(), ".{0,20}")
            .prop_map(|(operation, problem)| Decision::StubInvalid { operation, problem }),
        (
            ".{0,9}",
            prop_oneof![Just(Close::Drop), Just(Close::Detach)],
            prop::collection::vec(any::<u64>(), 0..3),
        )
            .prop_map(|(name, close, open)| Decision::SetClosed {
                name: name.into(),
                close,
                open,
            }),
        (any::<u64>(), runs(), channels(), ".{0,9}", json(), sites()).prop_map(
            |(operation, run, channel, name, payload, site)| Decision::SendRequested {
                operation,
                run,
                channel,
                name: name.into(),
                payload,
                site,
            }
        ),
        (any::<u64>(), references(), ".{0,9}", json(), sites()).prop_map(
            |(operation, reference, stub, value, site)| Decision::FulfilRequested {
                operation,
                reference,
                stub: stub.into(),
                value,
                site,
            }
        ),
        any::<u64>().prop_map(|operation| Decision::Dropped { operation }),
        end().prop_map(|(value, open)| Decision::Completed { value, open }),
        end().prop_map(|(error, open)| Decision::Failed { error, open }),
    ]
}

fn units() -> impl Strategy<Value = Unit> {
    let number = prop_oneof![1..1_000_u64, 1..u64::MAX - 10];
    (
        number,
        any::<u64>(),
        observations(),
        prop::collection::vec(decisions(), 0..6),
    )
        .prop_map(|(number, at, observation, decisions)| Unit {
            number,
            at: Timestamp::from_millis(at),
            observation,
            decisions,
        })
}

fn everything() -> Render {
    let mut options = Render::default();
    options.times = true;
    options.lines = true;
    options.unnumbered = true;
    options
}

/// Puts a checksum on bytes that fits them, so that damage gets past it.
fn seal(mut record: Vec<u8>) -> Vec<u8> {
    if record.len() >= 5 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&record[..1]);
        hasher.update(&record[5..]);
        record[1..5].copy_from_slice(&hasher.finalize().to_le_bytes());
    }
    record
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_unit_comes_back_from_its_record_and_from_its_json(unit in units()) {
        prop_assert_eq!(&decode_unit(&encode_unit(&unit)).unwrap(), &unit);
        let text = serde_json::to_string(&unit).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Unit>(&text).unwrap(), &unit);
        let pretty = serde_json::to_string_pretty(&unit).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Unit>(&pretty).unwrap(), &unit);
        let _ = render(std::slice::from_ref(&unit), Render::default());
        let _ = render(&[unit], everything());
    }

    #[test]
    fn any_bytes_are_decoded_or_refused_and_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_unit(&bytes);
        let mut bytes = bytes;
        if let Some(version) = bytes.first_mut() {
            *version = UNIT_VERSION;
        }
        let _ = decode_unit(&seal(bytes));
    }

    #[test]
    fn a_record_that_was_damaged_and_sealed_again_is_decoded_or_refused(
        unit in units(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let record = encode_unit(&unit);
        let mut changed = record.clone();
        let place = 5 + at.index(changed.len() - 5);
        changed[place] = byte;
        let shortened = changed[..5 + cut.index(changed.len() - 5)].to_vec();
        for record in [changed, shortened] {
            if let Ok(unit) = decode_unit(&seal(record)) {
                let _ = render(std::slice::from_ref(&unit), Render::default());
                let _ = render(std::slice::from_ref(&unit), everything());
                let _ = serde_json::to_string(&unit);
                let _ = unit.events().count();
                let _ = decode_unit(&encode_unit(&unit));
            }
        }
    }

    #[test]
    fn a_record_that_was_cut_or_has_a_wrong_bit_is_found(unit in units(), at in any::<prop::sample::Index>()) {
        let record = encode_unit(&unit);
        prop_assert!(decode_unit(&record[..at.index(record.len())]).is_err());
        let mut flipped = record;
        let bit = at.index(flipped.len() * 8);
        flipped[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode_unit(&flipped).is_err());
    }

    #[test]
    fn any_units_fit_or_are_refused_exactly(units in prop::collection::vec(units(), 0..5), renumbered in any::<bool>()) {
        let mut units = units;
        if renumbered {
            let mut next = 1;
            for unit in &mut units {
                unit.number = next;
                next = unit.last() + 1;
            }
        }
        input::judge(&units);
        // Behind a beginning that fits.
        let mut behind = input::fitting()[0].units[..2].to_vec();
        let mut next = behind[1].last() + 1;
        for mut unit in units {
            unit.number = next;
            next = unit.last() + 1;
            behind.push(unit);
        }
        input::judge(&behind);
    }

    #[test]
    fn a_history_that_was_changed_fits_or_is_refused_exactly(
        which in 0..6_usize,
        steps in prop::collection::vec(any::<[u8; 4]>(), 0..6),
    ) {
        let mut units = input::fitting()[which].units.clone();
        for step in steps {
            input::change(&mut units, step);
        }
        input::judge(&units);
    }

    #[test]
    fn a_json_history_with_something_else_in_one_place_is_read_or_refused_exactly(
        which in 0..6_usize,
        place in any::<prop::sample::Index>(),
        other in json(),
    ) {
        let text = input::fitting()[which].to_json().unwrap();
        let mut history: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut places = Vec::new();
        pointers(&history, String::new(), &mut places);
        let place = &places[place.index(places.len())];
        *history.pointer_mut(place).unwrap() = serde_json::from_str(other.as_json()).unwrap();
        input::json(&history.to_string());
        input::json(other.as_json());
    }
}

/// The places of all values in `json`.
fn pointers(json: &serde_json::Value, at: String, found: &mut Vec<String>) {
    match json {
        serde_json::Value::Object(members) => {
            for (name, value) in members {
                pointers(value, format!("{at}/{name}"), found);
            }
        }
        serde_json::Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                pointers(item, format!("{at}/{place}"), found);
            }
        }
        _ => {}
    }
    found.push(at);
}

/// What nobody can read has any length, and an error is kept beside the run.
#[test]
fn the_text_of_an_error_is_bounded_whatever_the_history_holds() {
    let mut units = input::fitting()[0].units.clone();
    for step in [[71, 44, 47, 80], [5, 105, 0, 0]] {
        input::change(&mut units, step);
    }
    input::judge(&units);
}
