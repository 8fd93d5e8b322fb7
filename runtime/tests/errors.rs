//! The text of each error that a client or a driver can get, also where no other test meets it.
#![allow(clippy::unwrap_used)]

use perennial::history::Channel;
use perennial::value::{Digest, EncodeError, Value};
use perennial::wire::RecordError;
use perennial::{RunKey, Timestamp};
use perennial_runtime::store::{Fence, KeyConflict, Refusal, StoreError};
use perennial_runtime::{
    PurgeError, ReadError, RunError, SendError, StartError, Status, Unavailable,
};

fn run() -> RunKey {
    RunKey::new("default".parse().unwrap(), "order-42".parse().unwrap())
}

fn texts<E: ToString>(errors: impl IntoIterator<Item = E>) -> String {
    let texts: Vec<String> = errors.into_iter().map(|error| error.to_string()).collect();
    texts.join("\n---\n")
}

#[test]
fn what_a_store_says() {
    let refused = [
        Refusal::NoRun { run: run() },
        Refusal::Finished { run: run() },
        Refusal::Fenced {
            run: run(),
            given: Fence(3),
            current: Fence(4),
        },
        Refusal::Moved {
            run: run(),
            given: (1, 7),
            current: (2, 3),
        },
        Refusal::Purged {
            run: run(),
            at: Timestamp::from_millis(1_800_000_000_000),
        },
        Refusal::Unfinished { run: run() },
        Refusal::OpenTasks {
            run: run(),
            tasks: 2,
        },
        Refusal::OpenTasks {
            run: run(),
            tasks: 1,
        },
        Refusal::Exists { run: run() },
        Refusal::Restoring { run: run() },
        Refusal::InboxFull {
            run: run(),
            limit: 10_000,
        },
        Refusal::KeyConflict(Box::new(KeyConflict {
            run: run(),
            key: "approve-42".into(),
            name: "approval".into(),
            known: Digest([0x1f; 32]),
            given: Digest([0x2f; 32]),
        })),
        Refusal::KeyTooOld {
            run: run(),
            key: "approve-42".into(),
            at: Timestamp::from_millis(1_800_000_000_000),
        },
        Refusal::Inconsistent {
            run: run(),
            problem: "two tasks of one operation",
        },
    ];
    let others = [
        StoreError::Unknown {
            reason: "the last flush failed: input/output error".into(),
        },
        StoreError::Closed {
            reason: "it was closed".into(),
        },
        StoreError::Damaged {
            place: "event 7 of run order-42".into(),
            problem: RecordError::Damaged {
                problem: "the checksum does not fit",
            },
        },
        StoreError::Gap {
            run: run(),
            expected: 5,
            found: Some(7),
        },
        StoreError::Gap {
            run: run(),
            expected: 5,
            found: None,
        },
        StoreError::TooLarge {
            what: "a unit",
            size: 20_000_000,
            limit: 16_777_216,
        },
        StoreError::Io {
            what: "the folder cannot be read".into(),
            error: "permission denied".into(),
        },
    ];
    let all = refused.into_iter().map(StoreError::Refused).chain(others);
    insta::assert_snapshot!(texts(all));
}

#[test]
fn what_a_client_is_told() {
    let undecodable = Value::from_json("7").unwrap().decode::<String>();
    let blocked = RunError::Blocked {
        run: run(),
        code: "W101".into(),
        text: "the whole text".into(),
    };
    let unavailable = [
        Unavailable::Store(StoreError::Closed {
            reason: "it was closed".into(),
        }),
        Unavailable::Draining,
        Unavailable::Broken {
            reason: "one of its threads panicked: out of paper".into(),
        },
        Unavailable::Stopped,
    ];
    let results = [
        RunError::Failed("the workflow's own error".to_owned()),
        blocked,
        RunError::NotFound { run: run() },
        RunError::Purged {
            run: run(),
            status: Status::Failed,
            finished: Timestamp::from_millis(1_800_000_000_000),
            at: Timestamp::from_millis(1_800_086_400_000),
        },
        RunError::Undecodable {
            run: run(),
            error: undecodable.unwrap_err(),
        },
        RunError::Unavailable(Unavailable::Draining),
    ];
    // What `main` shows when it returns an error.
    assert_eq!(format!("{:?}", results[2]), results[2].to_string());
    let purges = [
        PurgeError::NotFound { run: run() },
        PurgeError::Unfinished { run: run() },
        PurgeError::OpenActivities {
            run: run(),
            count: 2,
        },
        PurgeError::OpenActivities {
            run: run(),
            count: 1,
        },
        PurgeError::Unavailable(Unavailable::Stopped),
    ];
    let reads = [
        ReadError::NotFound { run: run() },
        ReadError::Purged {
            run: run(),
            at: Timestamp::from_millis(1_800_086_400_000),
        },
        ReadError::InvalidCursor {
            cursor: "a\nb".into(),
        },
        ReadError::BothDirections,
        ReadError::Unavailable(Unavailable::Draining),
    ];
    insta::assert_snapshot!("unavailable", texts(unavailable));
    insta::assert_snapshot!("results", texts(results));
    insta::assert_snapshot!("reads", texts(reads));
    insta::assert_snapshot!("purges", texts(purges));
}

#[test]
fn what_a_sender_is_told() {
    let at = Timestamp::from_millis(1_800_000_000_000);
    let finished = |status, migrated_to: Option<&str>| SendError::RunFinished {
        run: run(),
        status,
        finished: at,
        migrated_to: migrated_to.map(|to| to.parse().unwrap()),
    };
    let unknown = |channel, declared: &[&str], closest: Option<&str>| SendError::NoSuchMessage {
        workflow: "purchase".into(),
        channel,
        name: "aproval".into(),
        declared: declared.iter().copied().map(str::to_owned).collect(),
        closest: closest.map(str::to_owned),
    };
    let errors = [
        SendError::RunNotFound { run: run() },
        finished(Status::Completed, None),
        finished(Status::Failed, None),
        finished(Status::Migrated, Some("order-43")),
        SendError::InboxFull {
            run: run(),
            limit: 10_000,
        },
        SendError::IdempotencyConflict {
            run: run(),
            key: "approve-42".into(),
            name: "approval".into(),
            known: Box::new(Digest([0x1f; 32])),
            given: Box::new(Digest([0x2f; 32])),
        },
        SendError::KeyTooOld {
            run: run(),
            key: "approve-42".into(),
            at,
        },
        SendError::InvalidKey {
            length: 300,
            limit: 256,
        },
        SendError::PayloadTooLarge {
            name: "approval".into(),
            size: 2_000_000,
            limit: 1_048_576,
        },
        SendError::TooManyMessages {
            count: 10_001,
            limit: 10_000,
        },
        SendError::Unstorable {
            name: "approval".into(),
            error: EncodeError::NotFinite {
                path: ".amount".into(),
            },
        },
        unknown(Channel::Message, &["approval", "cancel"], Some("approval")),
        unknown(Channel::Signal, &[], None),
        SendError::Unacknowledged {
            run: run(),
            reason: "the runtime was stopped".into(),
        },
        SendError::Unavailable(Unavailable::Stopped),
    ];
    assert_eq!(format!("{:?}", errors[0]), errors[0].to_string());
    let starts = [
        StartError::Message(Box::new(errors[8].clone())),
        StartError::MessagesNotSent { run: run() },
    ];
    insta::assert_snapshot!("sends", texts(errors));
    insta::assert_snapshot!("starts_with_messages", texts(starts));
}
