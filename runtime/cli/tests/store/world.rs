//! A folder with stores in it, and the command run there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;

use perennial::history::{Decision, Observation, RecordSource, Unit};
use perennial::value::Value;
use perennial::{ActivityOptions, Class, RunKey, Timestamp};
use perennial_runtime::store::{
    Ack, AttemptOutcome, AttemptRecord, BlockedChange, BlockedRecord, Changes, Commit, Create,
    Durability, SledStore, Status, Store, StoreError, Task, TaskChange, TimerChange,
};

/// A folder that can have the synchronous attribute: the one for temporary files may be in memory.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// What a command did.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Ran {
    /// Everything, for a snapshot.
    pub(crate) fn all(&self) -> String {
        format!("exit code {}\n{}{}", self.code, self.out, self.error)
    }

    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!(self.code, 0, "{}", self.all());
        self.out
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `perennial store ..` in the folder. Paths outside it do not occur in what it says.
    pub(crate) fn store(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().unwrap();
        let folder = fs::canonicalize(self.folder.path()).unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace(&format!("{}/", folder.display()), "[folder]/")
        };
        Ran {
            code: output.status.code().unwrap(),
            out: text(output.stdout),
            error: text(output.stderr),
        }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perennial"));
        command
            .arg("store")
            .args(arguments)
            .current_dir(self.folder.path());
        command
    }

    /// Opens the store of this name, or makes it.
    pub(crate) fn open(&self, name: &str) -> SledStore {
        let options = SledStore::options().durability(Durability::Os);
        options
            .open(self.path(name))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// The names in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A closed store with something of everything.
    pub(crate) fn with_everything(name: &str) -> Self {
        let world = Self::new();
        let store = world.open(name);
        everything(&store);
        store.close().unwrap();
        world
    }

    /// A closed store with so many runs of ten events each, all of them in sled alone.
    pub(crate) fn with_many(name: &str, runs: u64) -> Self {
        let world = Self::new();
        let store = world.open(name);
        for number in 0..runs {
            let run = run(&format!("run-{number:04}"));
            create(&store, &run, None);
            commit(&store, &run, units(1..=9));
            commit(&store, &run, end(10));
        }
        store.close().unwrap();
        drop(store);
        // The journal lets go of what sled has.
        world.open(name).close().unwrap();
        world
    }
}

/// All files in a folder, with their bytes.
pub(crate) fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(bytes(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

pub(crate) fn run(text: &str) -> RunKey {
    let (namespace, id) = text.split_once('/').unwrap_or(("default", text));
    RunKey::new(namespace.parse().unwrap(), id.parse().unwrap())
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_764_000_000_000 + millis)
}

pub(crate) fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> Result<T, StoreError> {
    let (answer, answered) = channel();
    write(Box::new(move |result| answer.send(result).unwrap()));
    answered.recv().unwrap()
}

pub(crate) fn create(store: &dyn Store, run: &RunKey, after: Option<u64>) {
    let create = Create {
        run: run.clone(),
        workflow: if run.id.as_str().starts_with("cart") {
            "cart"
        } else {
            "order"
        }
        .into(),
        input: Value::null().digest(),
        after,
        owner: store.enroll().unwrap(),
        changes: Changes {
            stamp: at(1),
            ..Changes::default()
        },
        keys: Vec::new(),
    };
    wait(|ack| store.create(create, ack)).unwrap();
}

pub(crate) fn commit(store: &dyn Store, run: &RunKey, changes: Changes) {
    let head = store.head(run).unwrap().unwrap();
    let commit = Commit {
        run: run.clone(),
        fence: head.fence,
        generation: head.generation,
        sequence: head.sequence,
        changes,
    };
    wait(|ack| store.commit(commit, ack)).unwrap();
}

/// Units of one event each.
pub(crate) fn units(numbers: impl Iterator<Item = u64>) -> Changes {
    let unit = |number| Unit {
        number,
        at: at(number),
        observation: Observation::TimerFired { operation: number },
        decisions: Vec::new(),
    };
    Changes {
        units: numbers.map(unit).collect(),
        ..Changes::default()
    }
}

/// The last unit, of two events.
pub(crate) fn end(number: u64) -> Changes {
    let mut changes = units(std::iter::once(number));
    changes.units[0].decisions.push(Decision::Completed {
        value: Value::from_json(r#"{"paid": 1.50}"#).unwrap(),
        open: Vec::new(),
    });
    changes.status = Some(Status::Completed);
    changes
}

fn everything(store: &dyn Store) {
    let order = run("order-42");
    create(store, &order, None);
    commit(store, &order, end(1));
    create(store, &order, Some(1));
    let large = Decision::Recorded {
        source: RecordSource::Named("large".into()),
        value: Value::from_json(format!("\"{}\"", "x".repeat(20_000))).unwrap(),
        site: None,
    };
    let task = |operation| {
        TaskChange::Put(Task {
            operation,
            generation: 2,
            unit: 1,
            name: "charge".into(),
            options: ActivityOptions::new(Class::Idempotent),
            attempt: 2,
            lost: 0,
            started: None,
            not_before: at(9),
            scheduled: at(8),
            last_failure: Some("no answer".repeat(20)),
        })
    };
    let timer = |operation| TimerChange::Put {
        operation,
        deadline: at(operation * 60_000),
    };
    let failed = AttemptRecord {
        operation: 2,
        attempt: 1,
        outcome: AttemptOutcome::Failed {
            error: "no answer".into(),
        },
        at: at(9),
    };
    let mut changes = units(1..=5);
    changes.units[4].decisions.push(large);
    changes.enqueue = vec![Observation::TimerFired { operation: 3 }];
    changes.tasks = (2..30).map(task).collect();
    changes.timers = (1..90).map(timer).collect();
    changes.attempts = vec![failed];
    commit(store, &order, changes);
    let blocked = BlockedRecord {
        artifact: "tuesday".into(),
        unfit: true,
        code: "H201".into(),
        text: "it does not fit".into(),
        details: Value::null(),
        at: at(9),
    };
    let cart = run("shop/cart-1");
    create(store, &cart, None);
    let mut changes = units(1..=3);
    changes.blocked = Some(BlockedChange::Put(blocked));
    commit(store, &cart, changes);
    let done = run("shop/cart-2");
    create(store, &done, None);
    commit(store, &done, end(1));
}
