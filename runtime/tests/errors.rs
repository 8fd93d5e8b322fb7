//! The text of each error that a client or a driver can get, also where no other test meets it.
#![allow(clippy::unwrap_used)]

use perennial::value::Value;
use perennial::wire::RecordError;
use perennial::{RunKey, Timestamp};
use perennial_runtime::store::{Fence, Refusal, StoreError};
use perennial_runtime::{PurgeError, ReadError, RunError, Status, Unavailable};

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
        ReadError::Unavailable(Unavailable::Draining),
    ];
    insta::assert_snapshot!("unavailable", texts(unavailable));
    insta::assert_snapshot!("results", texts(results));
    insta::assert_snapshot!("reads", texts(reads));
    insta::assert_snapshot!("purges", texts(purges));
}
