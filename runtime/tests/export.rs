//! Exports: what is in the file, what a reader refuses, and what happens to a store meanwhile.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::sync::mpsc::channel;

use perennial::history::{Decision, Observation, OpenOperation, RecordSource, Unit};
use perennial::value::Value;
use perennial::{ActivityOptions, Class, RunKey, Timestamp};
use perennial_runtime::store::export::{
    Contents, ExportError, ImportError, PartialRuns, Reader, Unreadable, export, export_to, import,
};
use perennial_runtime::store::{
    Ack, AttemptOutcome, AttemptRecord, BlockedChange, BlockedRecord, Changes, Commit, Create,
    Fence, Keep, MemoryStore, ProgramRecord, Progress, Purge, Status, Store, StoreError, Task,
    TaskChange, TimerChange,
};
use support::held::{HeldStore, Shared};

fn run(text: &str) -> RunKey {
    let (namespace, id) = text.split_once('/').unwrap_or(("default", text));
    RunKey::new(namespace.parse().unwrap(), id.parse().unwrap())
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> T {
    let (answer, answered) = channel();
    write(Box::new(move |result: Result<T, StoreError>| {
        answer.send(result).unwrap();
    }));
    answered.recv().unwrap().unwrap()
}

fn create(store: &dyn Store, run: &RunKey, after: Option<u64>) {
    create_at(store, run, after, at(0));
}

fn create_at(store: &dyn Store, run: &RunKey, after: Option<u64>, stamp: Timestamp) {
    let create = Create {
        run: run.clone(),
        workflow: "order".into(),
        input: Value::null().digest(),
        after,
        owner: store.enroll().unwrap(),
        changes: Changes {
            stamp,
            ..Changes::default()
        },
        keys: Vec::new(),
    };
    wait(|ack| store.create(create, ack));
}

fn commit(store: &dyn Store, run: &RunKey, changes: Changes) {
    let head = store.head(run).unwrap().unwrap();
    let commit = Commit {
        run: run.clone(),
        fence: head.fence,
        generation: head.generation,
        sequence: head.sequence,
        changes,
    };
    wait(|ack| store.commit(commit, ack));
}

fn unit(number: u64, decisions: Vec<Decision>) -> Unit {
    Unit {
        number,
        at: at(number),
        observation: Observation::TimerFired { operation: number },
        decisions,
    }
}

fn end(number: u64) -> Changes {
    let open = vec![OpenOperation {
        operation: 1,
        name: "charge".into(),
    }];
    let completed = Decision::Completed {
        value: Value::from_json(r#"{"paid": 1.50}"#).unwrap(),
        open,
    };
    Changes {
        units: vec![unit(number, vec![completed])],
        status: Some(Status::Completed),
        ..Changes::default()
    }
}

/// A run with one of everything, and one in another namespace.
fn store() -> MemoryStore {
    let store = MemoryStore::new();
    let order = run("order-42");
    create(&store, &order, None);
    commit(&store, &order, end(1));
    create(&store, &order, Some(1));
    let recorded = Decision::Recorded {
        source: RecordSource::Named("price".into()),
        value: Value::from_json("12").unwrap(),
        site: None,
    };
    let task = Task {
        operation: 2,
        generation: 2,
        unit: 1,
        name: "charge".into(),
        options: ActivityOptions::new(Class::Idempotent),
        attempt: 2,
        lost: 0,
        started: None,
        not_before: at(9),
        scheduled: at(8),
        last_failure: Some("no answer".into()),
    };
    let failed = AttemptRecord {
        operation: 2,
        attempt: 1,
        outcome: AttemptOutcome::Failed {
            error: "no answer".into(),
        },
        at: at(9),
    };
    let blocked = BlockedRecord {
        artifact: "tuesday".into(),
        unfit: true,
        code: "H201".into(),
        text: "it does not fit".into(),
        details: Value::null(),
        at: at(9),
    };
    let changes = Changes {
        units: vec![unit(1, vec![recorded]), unit(3, Vec::new())],
        enqueue: vec![Observation::TimerFired { operation: 3 }],
        tasks: vec![TaskChange::Put(task)],
        timers: vec![TimerChange::Put {
            operation: 3,
            deadline: at(20),
        }],
        attempts: vec![failed],
        blocked: Some(BlockedChange::Put(blocked)),
        ..Changes::default()
    };
    commit(&store, &order, changes);
    create(&store, &run("shop/cart-1"), None);
    store
}

/// With two programs beside.
fn store_with_programs() -> MemoryStore {
    let store = store();
    for (artifact, milliseconds) in [("wednesday", 8), ("tuesday", 9)] {
        let program = ProgramRecord {
            artifact: artifact.into(),
            manifest: Value::from_json(r#"{"workflows": ["order"]}"#).unwrap(),
            at: at(milliseconds),
        };
        wait(|ack| store.record_program(program, ack));
    }
    store
}

fn text_of(store: &dyn Store) -> Vec<u8> {
    let mut text = Vec::new();
    export(store, &mut text, at(1_000)).unwrap();
    text
}

fn read(text: &[u8]) -> Result<Contents, Unreadable> {
    Reader::new(text, "backup.jsonl").and_then(Contents::read)
}

/// What is fixed for ever: a later version reads this.
#[test]
fn an_export_looks_like_this() {
    let text = String::from_utf8(text_of(&store())).unwrap();
    let version = format!("perennial {}", env!("CARGO_PKG_VERSION"));
    insta::assert_snapshot!(text.replace(&version, "perennial [version]"));
    let contents = read(text.as_bytes()).unwrap();
    assert_eq!(contents.begin.producer, version);
    insta::assert_debug_snapshot!((contents.counts, contents.census));
}

fn assert_refused(text: impl AsRef<[u8]>) -> String {
    read(text.as_ref()).unwrap_err().to_string()
}

/// The text with something in one of its lines replaced.
fn with(text: &[u8], line: usize, from: &str, to: &str) -> String {
    let text = std::str::from_utf8(text).unwrap();
    let lines = text.lines().enumerate().map(|(at, found)| {
        if at + 1 == line {
            assert!(found.contains(from), "{found}");
            format!("{}\n", found.replacen(from, to, 1))
        } else {
            format!("{found}\n")
        }
    });
    lines.collect()
}

#[test]
fn what_is_wrong_with_an_export_is_said_with_its_line() {
    let text = text_of(&store());
    let lines = text.iter().filter(|&&byte| byte == b'\n').count();
    let without = |line: usize| {
        let text = std::str::from_utf8(&text).unwrap().lines().enumerate();
        let kept = text.filter(|(at, _)| at + 1 != line);
        kept.map(|(_, line)| format!("{line}\n"))
            .collect::<String>()
    };
    let texts = [
        assert_refused(""),
        assert_refused("{\"name\": \"something else\"}\n"),
        assert_refused(with(&text, 1, "\"format\":1", "\"format\":9")),
        // Cut between two lines, within one, and just before its last byte.
        assert_refused(&text[..text.len() / 2]),
        assert_refused(without(lines)),
        assert_refused(&text[..text.len() - 1]),
        // A value that is another one, in a run and in the last run.
        assert_refused(with(&text, 3, "no answer", "no answeR")),
        assert_refused(with(&text, lines - 1, "\"owner\":3", "\"owner\":4")),
        assert_refused(with(&text, 1, "perennial", "perennIal")),
        // What is no JSON, of another type, or not known.
        assert_refused(with(&text, 3, "{", "")),
        assert_refused(with(&text, 3, "\"operation\":2", "\"operation\":\"2\"")),
        assert_refused(with(&text, 3, "\"task\"", "\"tusk\"")),
        assert_refused(with(&text, 3, "order-42", "order 42")),
        // Lines that are missing, or stand elsewhere.
        assert_refused(without(2)),
        assert_refused(without(7)),
        assert_refused(with(&text, 4, "order-42", "order-43")),
        assert_refused([&text[..], b"\n"].concat()),
        assert_refused(with(&text, lines, "\"units\":3", "\"units\":4")),
    ];
    insta::assert_snapshot!(texts.join("\n---\n"));
}

#[test]
fn every_changed_byte_is_noticed_and_every_cut() {
    let text = text_of(&store_with_programs());
    for at in 0..text.len() {
        let mut changed = text.clone();
        changed[at] ^= 1;
        assert!(read(&changed).is_err(), "byte {at}");
        assert!(read(&text[..at]).is_err(), "cut at {at}");
    }
    read(&text).unwrap();
}

/// As unknown fields of a record are.
#[test]
fn what_newer_software_adds_to_a_line_is_passed_over() {
    let text = text_of(&MemoryStore::new());
    let first = with(&text, 1, "\"format\":1", "\"format\":1,\"mood\":\"good\"");
    let last = first.lines().next().unwrap().len() + 1;
    let digest = <sha2::Sha256 as sha2::Digest>::digest(&first.as_bytes()[..last]);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let end = first.lines().last().unwrap();
    let sha = end.split('"').rev().nth(1).unwrap();
    let text = first
        .replace(sha, &digest)
        .replace("\"end\":{", "\"end\":{\"moods\":1,");
    assert_eq!(read(text.as_bytes()).unwrap().counts.lines, 1);
}

/// What programs could run; a later version reads this too.
#[test]
fn programs_stand_before_the_runs_in_the_order_of_their_artifacts() {
    let text = text_of(&store_with_programs());
    let lines = String::from_utf8(text.clone()).unwrap();
    let programs: Vec<_> = lines.lines().skip(1).take(2).collect();
    assert_eq!(
        programs,
        [
            r#"{"program":{"artifact":"tuesday","manifest":{"workflows": ["order"]},"at":9}}"#,
            r#"{"program":{"artifact":"wednesday","manifest":{"workflows": ["order"]},"at":8}}"#,
        ]
    );
    let contents = read(&text).unwrap();
    assert_eq!(contents.counts.programs, 2);
    assert_eq!(contents.programs.len(), 2);
    let swapped = format!("{}\n{}", programs[1], programs[0]);
    let out_of_order = lines.replace(&format!("{}\n{}", programs[0], programs[1]), &swapped);
    let late = lines
        .replacen(&format!("{}\n", programs[1]), "", 1)
        .replacen("{\"end\"", &format!("{}\n{{\"end\"", programs[1]), 1);
    let both = with(
        &text,
        2,
        "{\"program\"",
        "{\"run\":\"order-42\",\"program\"",
    );
    let texts = [out_of_order, late, both].map(assert_refused);
    insta::assert_snapshot!(texts.join("\n---\n"));
}

fn purge(store: &dyn Store, run: &RunKey, keep: Keep) {
    let head = store.head(run).unwrap().unwrap();
    let purge = Purge {
        run: run.clone(),
        generation: head.generation,
        sequence: head.sequence,
        keep,
        at: at(50),
        limit: 1,
    };
    while wait(|ack| store.purge(purge.clone(), ack)) == Progress::More {}
}

/// A purge does not wait for an export, and an export does not fail because of it.
#[test]
fn a_run_that_is_purged_meanwhile_is_withdrawn() {
    for (keep, anew) in [
        (Keep::Head, false),
        (Keep::Nothing, false),
        (Keep::Nothing, true),
    ] {
        let held = HeldStore::new();
        let store = Shared(held.clone());
        let order = run("order-42");
        create(&store, &order, None);
        commit(&store, &order, end(1));
        create(&store, &run("other"), None);
        let (there, key) = (store.clone(), order.clone());
        held.before_next_history(move || {
            purge(&there, &key, keep);
            if anew {
                create_at(&there, &key, None, at(60));
                commit(&there, &key, end(1));
            }
        });
        let text = text_of(&store);
        let contents = read(&text).unwrap();
        let expected = match (keep, anew) {
            (Keep::Nothing, false) => (1, 1, 0),
            (Keep::Head, _) => (1, 2, 1),
            _ => (1, 2, 0),
        };
        let found = (
            contents.counts.withdrawn,
            contents.census.all.total(),
            contents.census.all.purged,
        );
        assert_eq!(found, expected, "{keep:?}, {anew}");
        // And an import takes back what it had taken of it.
        let copy = MemoryStore::new();
        let mut reader = Reader::new(&text[..], "backup.jsonl").unwrap();
        import(&mut reader, &copy, PartialRuns::Refuse).unwrap();
        assert_eq!(copy.load(&order).unwrap(), store.load(&order).unwrap());
        if anew {
            let head = copy.head(&order).unwrap().unwrap();
            assert_eq!((head.fence, head.sequence), (Fence(1), 2));
        }
    }
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
#[cfg(unix)]
fn the_file_is_its_owners_alone_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.jsonl");
    let exported = export_to(&store(), &path, at(1_000)).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), text_of(&store()));
    assert_eq!(exported.bytes, text_of(&store()).len() as u64);
    assert_eq!(mode(&path), 0o600);
    assert_eq!(
        export_to(&MemoryStore::new(), &path, at(1_000)),
        Err(ExportError::Exists { path: path.clone() })
    );
    // Nor does one that fails leave anything behind.
    let closed = MemoryStore::new();
    closed.close().unwrap();
    let other = folder.path().join("other.jsonl");
    assert!(matches!(
        export_to(&closed, other, at(1_000)),
        Err(ExportError::Store(StoreError::Closed { .. }))
    ));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn each_error_has_its_text() {
    let exports = [
        ExportError::Store(StoreError::Closed {
            reason: "it was asked to close".into(),
        }),
        ExportError::Exists {
            path: "backup.jsonl".into(),
        },
        ExportError::Io {
            what: "writing a line".into(),
            error: "No space left on device (os error 28)".into(),
        },
        ExportError::Stopped,
    ];
    let imports = [
        ImportError::Partial {
            runs: 1,
            run: run("order-42"),
        },
        ImportError::Partial {
            runs: 3,
            run: run("order-42"),
        },
        ImportError::Exists {
            folder: "data".into(),
        },
        ImportError::Differs {
            problem: "it has 3 runs, and the export 4".into(),
        },
        ImportError::Unreadable(Unreadable::Io {
            name: "backup.jsonl".into(),
            error: "Permission denied (os error 13)".into(),
        }),
    ];
    let texts: Vec<_> = exports.iter().map(ToString::to_string).collect();
    let more = imports.iter().map(ToString::to_string);
    insta::assert_snapshot!(
        texts
            .into_iter()
            .chain(more)
            .collect::<Vec<_>>()
            .join("\n---\n")
    );
}
