//! What events come to as records.

use super::*;
use crate::history::{ForkedFrom, Migrated, SlotResult, Started, StreamEnd};
use crate::{FulfilFailure, OperationId, Receipt, RunEnd, SendFailure};

/// The machine adds up what events have at most, so that a unit that it lets through is never too large
/// for a store (S15).
#[test]
fn no_event_has_more_bytes_than_it_says() {
    let most = u64::MAX;
    let site = || {
        Some(CallSite {
            file: "f".repeat(300).into(),
            line: u32::MAX,
            column: u32::MAX,
            function: "g".repeat(300).into(),
        })
    };
    let value = || Value::trusted(&format!("\"{}\"", "v".repeat(20_000)));
    let open = |count: usize| {
        let one = || OpenOperation {
            operation: most,
            name: "n".repeat(200),
        };
        std::iter::repeat_with(one).take(count).collect::<Vec<_>>()
    };
    let decisions = [
        Decision::ActivityScheduled {
            operation: most,
            name: "n".repeat(200).into(),
            input: value(),
            site: site(),
        },
        Decision::TimerStarted {
            operation: most,
            deadline: Timestamp::from_millis(most),
            site: site(),
        },
        Decision::Recorded {
            source: RecordSource::Named("n".repeat(200)),
            value: value(),
            site: site(),
        },
        Decision::Marker {
            id: "n".repeat(200).into(),
            version: u32::MAX,
            site: site(),
        },
        Decision::ReceiveStarted {
            operation: most,
            channel: Channel::Signal,
            name: "n".repeat(200).into(),
            site: site(),
        },
        Decision::Received {
            operation: most,
            channel: Channel::Signal,
            number: most,
            invalid: Some("i".repeat(20_000)),
        },
        Decision::Emitted {
            stream: "n".repeat(200).into(),
            number: most,
            value: value(),
            site: site(),
        },
        Decision::UpdateAnswered {
            value: value(),
            site: site(),
        },
        Decision::StubOffered {
            operation: most,
            name: "n".repeat(200).into(),
            input: value(),
            site: site(),
        },
        Decision::StubInvalid {
            operation: most,
            problem: "p".repeat(20_000),
        },
        Decision::SetClosed {
            name: "n".repeat(200).into(),
            close: Close::Detach,
            open: vec![most; 1_000],
        },
        Decision::SendRequested {
            operation: most,
            run: "r".repeat(128).parse().expect("a valid id"),
            channel: Channel::Signal,
            name: "n".repeat(200).into(),
            payload: value(),
            site: site(),
        },
        Decision::FulfilRequested {
            operation: most,
            reference: OperationId {
                run: "r".repeat(128).parse().expect("a valid id"),
                number: most,
            },
            stub: "n".repeat(200).into(),
            value: value(),
            site: site(),
        },
        Decision::Dropped { operation: most },
        Decision::Completed {
            value: value(),
            open: open(0),
        },
        Decision::Failed {
            error: value(),
            open: open(1_000),
        },
    ];
    let failures = [
        ActivityFailure::Rejected { value: value() },
        ActivityFailure::RetriesExhausted {
            last: "l".repeat(20_000),
            attempts: u32::MAX,
        },
        ActivityFailure::TooLarge {
            size: most,
            limit: most,
        },
    ];
    let unit = |observation: &Observation, decisions: &[Decision]| {
        encode_unit(&Unit {
            number: most / 2,
            at: Timestamp::from_millis(most),
            observation: observation.clone(),
            decisions: decisions.to_vec(),
        })
        .len()
    };
    let fired = Observation::TimerFired { operation: most };
    assert!(unit(&fired, &[]) <= fired.size());
    let started = Started {
        workflow: "w".repeat(300),
        input: value(),
        semantics: u32::MAX,
        artifact: "a".repeat(300),
        namespace: "n".repeat(128).parse().expect("a valid name"),
        run: "r".repeat(128).parse().expect("a valid id"),
        generation: most,
        first_operation: most,
        version: Some(u32::MAX),
        migrated_from: Some("m".repeat(128).parse().expect("a valid id")),
        streams: vec![
            StreamEnd {
                name: "s".repeat(128),
                last: most,
            };
            16
        ],
        forked_from: vec![
            ForkedFrom {
                run: "f".repeat(128).parse().expect("a valid id"),
                last: most,
            };
            16
        ],
    };
    let migrated = Observation::Migrated(Migrated {
        to: started.run.clone(),
        workflow: "w".repeat(300),
        migration: "m".repeat(300),
        artifact: "a".repeat(300),
        kept: open(1_000),
        stopped: vec![most; 1_000],
        unstarted: Some(Box::new(started.clone())),
    });
    let told = || Told {
        number: most,
        name: "n".repeat(200),
        payload: value(),
        key: Some("k".repeat(200)),
    };
    let arrived = [
        Observation::MessageArrived(told()),
        Observation::SignalArrived(told()),
        Observation::StubFulfilled {
            operation: most,
            value: value(),
            key: Some("k".repeat(200)),
        },
        Observation::UpdateAccepted {
            name: "n".repeat(200),
            input: value(),
            key: Some("k".repeat(200)),
        },
    ];
    let run = || "r".repeat(128).parse().expect("a valid id");
    let reference = || OperationId {
        run: run(),
        number: most,
    };
    let filled = [
        SlotResult::Sent(Receipt {
            number: most,
            at: Timestamp::from_millis(most),
            duplicate: true,
        }),
        SlotResult::NotSent(SendFailure::RunFinished {
            run: run(),
            end: RunEnd::Migrated { to: run() },
            finished: Timestamp::from_millis(most),
        }),
        SlotResult::NotSent(SendFailure::NoSuchMessage {
            run: run(),
            workflow: "w".repeat(300),
            name: "n".repeat(200),
        }),
        SlotResult::NotSent(SendFailure::Unreadable {
            run: run(),
            problem: "p".repeat(2_000),
        }),
        SlotResult::NotSent(SendFailure::TooLarge {
            size: most,
            limit: most,
        }),
        SlotResult::NotFulfilled(FulfilFailure::OtherStub {
            reference: reference(),
            is: "n".repeat(300),
            given: "n".repeat(300),
        }),
        SlotResult::NotFulfilled(FulfilFailure::Closed {
            reference: reference(),
            stub: "n".repeat(300),
            at: Timestamp::from_millis(most),
            end: Some(RunEnd::Migrated { to: run() }),
        }),
        SlotResult::NotFulfilled(FulfilFailure::Unreadable {
            reference: reference(),
            problem: "p".repeat(2_000),
        }),
    ];
    let filled = filled.map(|result| Observation::SlotFilled {
        operation: most,
        result,
    });
    for observation in [Observation::Started(started), migrated]
        .into_iter()
        .chain(arrived)
        .chain(filled)
    {
        assert!(unit(&observation, &[]) <= observation.size());
    }
    for failure in failures {
        let observation = Observation::ActivityFailed {
            operation: most,
            failure,
        };
        assert!(unit(&observation, &[]) <= observation.size());
    }
    for decision in decisions {
        let bytes = unit(&fired, std::slice::from_ref(&decision)) - unit(&fired, &[]);
        assert!(bytes <= decision.size(), "{bytes} {}", decision.size());
    }
}
