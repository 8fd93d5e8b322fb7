//! A folder, and stores in it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use perennial::history::{Decision, Observation, RecordSource, Unit};
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use perennial_runtime::store::sled::Options;
use perennial_runtime::store::{
    Ack, Changes, Commit, Create, Durability, Fence, OpenError, SledStore, Store, StoreError,
};

/// A folder that can have the synchronous attribute: the one for temporary files may be in memory.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir_in(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))).unwrap(),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn try_open(&self) -> Result<SledStore, OpenError> {
        os().open(self.path())
    }

    pub(crate) fn open(&self) -> SledStore {
        self.try_open().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Why the store cannot be opened.
    pub(crate) fn refusal(&self) -> OpenError {
        match self.try_open() {
            Ok(_) => panic!("it was opened"),
            Err(error) => error,
        }
    }

    /// A closed store with a run of so many units.
    pub(crate) fn with_units(units: u64) -> Self {
        let world = Self::new();
        let store = world.open();
        begin(&store, &run("order-42"));
        for number in 1..=units {
            commit(&store, &run("order-42"), number).unwrap();
        }
        store.close().unwrap();
        drop(store);
        // The journal lets go of what sled has: from here on it depends on sled.
        world.open().close().unwrap();
        world
    }

    /// Does something to what sled holds, as media and other software do.
    pub(crate) fn in_sled(&self, change: impl FnOnce(&sled::Db)) {
        let db = sled::open(self.file("sled")).unwrap();
        change(&db);
        db.flush().unwrap();
    }

    /// The text of an error without the place of the folder.
    pub(crate) fn text(&self, error: &OpenError) -> String {
        error
            .to_string()
            .replace(&*self.path().to_string_lossy(), "[store]")
    }
}

/// Quick, for what has nothing to do with power cuts.
pub(crate) fn os() -> Options {
    SledStore::options().durability(Durability::Os)
}

pub(crate) fn run(id: &str) -> RunKey {
    RunKey::new("default".parse().unwrap(), id.parse().unwrap())
}

pub(crate) fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> Result<T, StoreError> {
    let (answer, answered) = channel();
    write(Box::new(move |result| answer.send(result).unwrap()));
    answered.recv().unwrap()
}

pub(crate) fn begin(store: &SledStore, run: &RunKey) {
    let owner = store.enroll().unwrap();
    let create = Create {
        run: run.clone(),
        workflow: "order".into(),
        input: Value::null().digest(),
        after: None,
        owner,
        changes: Changes::default(),
        keys: Vec::new(),
    };
    wait(|ack| store.create(create, ack)).unwrap();
}

pub(crate) fn unit(number: u64) -> Unit {
    Unit {
        number,
        at: Timestamp::from_millis(number),
        observation: Observation::TimerFired { operation: number },
        decisions: Vec::new(),
    }
}

/// A unit of one event and a value of so many bytes.
pub(crate) fn large_unit(number: u64, bytes: usize) -> Unit {
    let value = Value::from_json(format!("\"{}\"", "x".repeat(bytes - 2))).unwrap();
    let recorded = Decision::Recorded {
        source: RecordSource::Named("large".into()),
        value,
        site: None,
    };
    Unit {
        decisions: vec![recorded],
        ..unit(number)
    }
}

pub(crate) fn commit_of(run: &RunKey, unit: Unit) -> Commit {
    Commit {
        run: run.clone(),
        fence: Fence(1),
        generation: 1,
        sequence: unit.number - 1,
        changes: Changes {
            units: vec![unit],
            ..Changes::default()
        },
    }
}

/// Commits the unit of one event with this number.
pub(crate) fn commit(store: &SledStore, run: &RunKey, number: u64) -> Result<(), StoreError> {
    wait(|ack| store.commit(commit_of(run, unit(number)), ack)).map(drop)
}

pub(crate) fn sequence(store: &SledStore, run: &RunKey) -> u64 {
    store.load(run).unwrap().unwrap().head.sequence
}

/// Copies a folder with everything in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
