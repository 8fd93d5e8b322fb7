//! The process that meets the end of the space, and the one that looks afterwards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use perennial::history::{Decision, Observation, RecordSource, Unit};
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use perennial_runtime::store::sled::Options;
use perennial_runtime::store::{
    Ack, Changes, Commit, Create, ListQuery, SledStore, Store, StoreError,
};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::support::process::{Role, tell, variable};

const STORE: &str = "PERENNIAL_TEST_FULL_STORE";
const LIMIT: &str = "PERENNIAL_TEST_FULL_LIMIT";
/// So many writes at most; then the space has not come to its end.
const WRITES: u64 = 600;
const RUNS: u64 = 7;

fn options() -> Options {
    SledStore::options().segment(128 << 10).gather(128 << 10)
}

/// What a process is asked for.
#[derive(Debug)]
pub(crate) enum Asked {
    /// To write until it is refused; with files of at most so many bytes.
    Fill { limit: Option<u64> },
    /// To tell what is there.
    Look,
}

/// What it told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Of each run, the last event that was acknowledged.
    pub(crate) acknowledged: BTreeMap<String, u64>,
    /// Of each run, the last event that is there.
    pub(crate) found: BTreeMap<String, u64>,
    /// How it ended.
    pub(crate) end: String,
}

pub(crate) fn ask(store: &Path, asked: &Asked) -> Told {
    let role = match asked {
        Asked::Fill { limit } => {
            let role = Role::new("child::fill");
            match limit {
                Some(limit) => role.with(LIMIT, limit.to_string()),
                None => role,
            }
        }
        Asked::Look => Role::new("child::look"),
    };
    let process = role.with(STORE, store).start();
    let ended = match process.ended_within(Duration::from_secs(120)) {
        Ok(ended) => ended,
        Err(ended) => panic!("{asked:?} came to no end: {}", ended.last_words()),
    };
    assert!(ended.status.success(), "{asked:?}: {}", ended.last_words());
    let mut told = Told::default();
    for line in &ended.lines {
        let numbered = |text: &str| {
            let (run, number) = text.split_once(' ').unwrap();
            (run.to_owned(), number.parse::<u64>().unwrap())
        };
        if let Some(text) = line.strip_prefix("acknowledged ") {
            told.acknowledged.extend([numbered(text)]);
        } else if let Some(text) = line.strip_prefix("found ") {
            told.found.extend([numbered(text)]);
        } else if let Some(text) = line.strip_prefix("end ") {
            told.end = text.into();
        }
    }
    assert_ne!(told.end, "", "{asked:?}: {}", ended.last_words());
    told
}

fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> Result<T, StoreError> {
    let (answer, answered) = channel();
    write(Box::new(move |result| drop(answer.send(result))));
    answered.recv().unwrap()
}

fn key(number: u64) -> RunKey {
    RunKey::new(
        "default".parse().unwrap(),
        format!("order-{number}").parse().unwrap(),
    )
}

/// Writes into one run after the other. Says why it cannot go on.
fn write(store: &SledStore) -> Result<(), StoreError> {
    let owner = store.enroll()?;
    for number in 0..WRITES {
        let run = key(number % RUNS);
        let Some(head) = store.head(&run)? else {
            let create = Create {
                run: run.clone(),
                workflow: "order".into(),
                input: Value::null().digest(),
                after: None,
                owner,
                changes: Changes::default(),
                keys: Vec::new(),
            };
            wait(|ack| store.create(create, ack))?;
            tell(format!("acknowledged {} 0", run.id));
            continue;
        };
        let bytes = match number % 11 {
            0 => 60_000,
            1..=3 => 5_000,
            _ => 300,
        };
        let unit = Unit {
            number: head.sequence + 1,
            at: Timestamp::from_millis(number),
            observation: Observation::TimerFired { operation: number },
            decisions: vec![Decision::Recorded {
                source: RecordSource::Named("value".into()),
                value: Value::from_json(format!("\"{}\"", "x".repeat(bytes))).unwrap(),
                site: None,
            }],
        };
        let last = unit.last();
        let commit = Commit {
            run: run.clone(),
            fence: head.fence,
            generation: 1,
            sequence: head.sequence,
            changes: Changes {
                units: vec![unit],
                ..Changes::default()
            },
        };
        wait(|ack| store.commit(commit, ack))?;
        tell(format!("acknowledged {} {last}", run.id));
    }
    Ok(())
}

#[test]
#[ignore = "only makes sense as another process"]
fn fill() {
    if let Ok(limit) = std::env::var(LIMIT) {
        let limit = Rlimit {
            current: Some(limit.parse().unwrap()),
            maximum: None,
        };
        setrlimit(Resource::Fsize, limit).unwrap();
    }
    let store = match options().open(variable(STORE)) {
        Ok(store) => store,
        Err(error) => {
            let text = error.to_string();
            // Where, but not which folder.
            let text = text.lines().next().unwrap_or_default();
            let text = text.replace(&variable(STORE), "[store]");
            tell(format!("end not opened: {text}"));
            std::process::exit(0);
        }
    };
    let Err(error) = write(&store) else {
        // It may end yet.
        return tell(match store.close() {
            Ok(()) => "end there was space".to_owned(),
            Err(error) => format!("end not closed: {error}"),
        });
    };
    assert!(
        matches!(
            error,
            StoreError::Unknown { .. } | StoreError::Closed { .. }
        ),
        "{error}"
    );
    // And it stays like that.
    let again = store.enroll().unwrap_err();
    assert!(matches!(again, StoreError::Closed { .. }), "{again}");
    let read = store.head(&key(0)).unwrap_err();
    assert!(matches!(read, StoreError::Closed { .. }), "{read}");
    let _ = store.close();
    tell(match error {
        StoreError::Unknown { .. } => "end unknown",
        _ => "end closed",
    });
}

#[test]
#[ignore = "only makes sense as another process"]
fn look() {
    let store = match options().open(PathBuf::from(variable(STORE))) {
        Ok(store) => store,
        Err(error) => return tell(format!("end not opened: {error}").replace('\n', " ")),
    };
    let query = ListQuery {
        limit: usize::MAX,
        ..ListQuery::default()
    };
    for (run, head) in store.list(&query).unwrap().runs {
        tell(format!("found {run} {}", head.sequence));
    }
    let problems = store.verify().unwrap().problems;
    let closed = store.close();
    tell(match (problems.first(), closed) {
        (None, Ok(())) => "end whole".to_owned(),
        (Some(problem), _) => format!("end {problem}").replace('\n', " "),
        (None, Err(error)) => format!("end not closed: {error}").replace('\n', " "),
    });
}
