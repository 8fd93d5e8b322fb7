//! A folder with stores, exports and histories in it, and the commands called there.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::mpsc::channel;

use perennial::history::{History, Observation, SEMANTICS, Started, Unit};
use perennial::machine::Machine;
use perennial::value::Value;
use perennial::{RunKey, Timestamp, WorkflowDefinition, WorkflowFn};
use perennial_runtime::store::{
    Ack, BlockedChange, BlockedRecord, Changes, Commit, Create, Durability, ProgramRecord,
    SledStore, Status, Store, StoreError,
};
use perennial_runtime::{Builder, cli};

/// When all is looked at.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(40 * 86_400_000);

pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: u8,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Ran {
    /// Everything, for a snapshot.
    pub(crate) fn all(&self) -> String {
        format!("exit code {}\n{}{}", self.code, self.out, self.error)
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A folder of a package.
    pub(crate) fn package() -> Self {
        let world = Self::new();
        world.write("Cargo.toml", "[package]\nname = \"shop\"\n");
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Calls a command. `@` in an argument is this folder.
    pub(crate) fn call(&self, builder: Builder, arguments: &[&str]) -> Ran {
        let folder = self.folder.path().display().to_string();
        let arguments = arguments.iter().map(|text| text.replace('@', &folder));
        let arguments = ["/usr/bin/shop".to_owned(), "perennial".to_owned()]
            .into_iter()
            .chain(arguments);
        let (mut out, mut error) = (Vec::new(), Vec::new());
        let code = cli::call(builder, arguments, &mut out, &mut error);
        let text = |bytes| {
            let text = String::from_utf8(bytes).unwrap();
            without_builds(&text.replace(&folder, "[folder]"))
        };
        Ran {
            code,
            out: text(out),
            error: text(error),
        }
    }

    /// A new store in a folder of this name.
    pub(crate) fn store(&self, name: &str) -> SledStore {
        let options = SledStore::options().durability(Durability::Os);
        options.open(self.path(name)).unwrap()
    }

    /// All that is below a folder or in a file, to the byte.
    pub(crate) fn bytes(&self, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
        fn read(path: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
            if path.is_dir() {
                let entries = fs::read_dir(path).unwrap();
                let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
                paths.sort();
                paths.iter().for_each(|path| read(path, found));
            } else {
                found.push((path.to_owned(), fs::read(path).unwrap()));
            }
        }
        let mut found = Vec::new();
        read(&self.path(name), &mut found);
        found
    }
}

/// What happens to a run.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The activity with this number ends.
    Done(u64, &'static str),
    /// The timer with this number fires.
    Fired(u64),
}

impl Event {
    fn observation(&self) -> Observation {
        match self {
            Self::Done(operation, result) => Observation::ActivityCompleted {
                operation: *operation,
                result: Value::from_json(*result).unwrap(),
            },
            Self::Fired(operation) => Observation::TimerFired {
                operation: *operation,
            },
        }
    }
}

/// Records a run of `workflow` with the input 1250 that `artifact` began, a day between two events.
pub(crate) fn record<M, F: WorkflowFn<M>>(
    _: F,
    id: &str,
    artifact: &str,
    events: &[Event],
) -> History {
    let definition = WorkflowDefinition::of::<F::W>();
    let drawn = Rc::new(Cell::new(0));
    let entropy = Box::new(move || drawn.replace(drawn.get() + 1));
    let mut machine = Machine::new(definition, &artifact.into(), entropy);
    let run: RunKey = id.parse().unwrap();
    let started = Observation::Started(Started {
        workflow: definition.name.to_owned(),
        input: Value::from_json("1250").unwrap(),
        semantics: SEMANTICS,
        artifact: artifact.to_owned(),
        namespace: run.namespace.clone(),
        run: run.id.clone(),
        generation: 1,
        first_operation: 1,
        version: None,
        migrated_from: None,
        forked_from: Vec::new(),
        streams: Vec::new(),
    });
    let observations = [started]
        .into_iter()
        .chain(events.iter().map(Event::observation));
    let units = (0..).zip(observations).map(|(day, observation)| {
        let at = Timestamp::from_millis(day * 86_400_000);
        machine.observe(observation, at, at).unwrap().unit
    });
    History {
        run,
        generation: 1,
        units: units.collect(),
    }
}

/// Puts a run into a store.
pub(crate) fn put(store: &dyn Store, history: &History) {
    let Some(Observation::Started(started)) = history.units.first().map(|unit| &unit.observation)
    else {
        panic!("a history begins with `started`");
    };
    let create = Create {
        run: history.run.clone(),
        workflow: started.workflow.clone(),
        input: started.input.digest(),
        after: None,
        owner: store.enroll().unwrap(),
        changes: Changes {
            units: history.units.clone(),
            status: history.units.iter().any(ends).then_some(Status::Completed),
            ..Changes::default()
        },
        keys: Vec::new(),
    };
    wait(|ack| store.create(create, ack));
}

fn ends(unit: &Unit) -> bool {
    use perennial::history::Decision;

    matches!(unit.decisions.last(), Some(Decision::Completed { .. }))
}

/// Changes a run that is in a store.
pub(crate) fn change(store: &dyn Store, run: &str, changes: Changes) {
    let run: RunKey = run.parse().unwrap();
    let head = store.head(&run).unwrap().unwrap();
    let commit = Commit {
        run,
        fence: head.fence,
        generation: head.generation,
        sequence: head.sequence,
        changes,
    };
    wait(|ack| store.commit(commit, ack));
}

/// Something waits in the run's queue.
pub(crate) fn enqueue(store: &dyn Store, run: &str, event: &Event) {
    let changes = Changes {
        enqueue: vec![event.observation()],
        ..Changes::default()
    };
    change(store, run, changes);
}

/// A program has found that it cannot go on with a run.
pub(crate) fn block(store: &dyn Store, run: &str, artifact: &str, code: &str) {
    let record = BlockedRecord {
        artifact: artifact.to_owned(),
        unfit: code.starts_with('H'),
        code: code.to_owned(),
        text: "it did not go on".to_owned(),
        details: Value::null(),
        at: NOW,
    };
    put_blocked(store, run, record);
}

/// The program with this workflow has found that it cannot go on with a run, with the error that it gets.
pub(crate) fn block_with<M, F: WorkflowFn<M>>(
    _: F,
    store: &dyn Store,
    history: &History,
    artifact: &str,
) {
    let entropy = Box::new(|| 0);
    let definition = WorkflowDefinition::of::<F::W>();
    let mut machine = Machine::new(definition, &artifact.into(), entropy);
    let mut units = history.units.iter().cloned();
    let error = units.find_map(|unit| machine.replay(unit).err());
    let rest: Vec<_> = units.collect();
    let error = error.unwrap().look_ahead(&rest);
    let record = BlockedRecord {
        artifact: artifact.to_owned(),
        unfit: error.is_unfit(),
        code: error.code().to_owned(),
        text: error.to_string(),
        details: Value::encode(&error).unwrap(),
        at: NOW,
    };
    put_blocked(store, &history.run.to_string(), record);
}

pub(crate) fn put_blocked(store: &dyn Store, run: &str, record: BlockedRecord) {
    let changes = Changes {
        blocked: Some(BlockedChange::Put(record)),
        ..Changes::default()
    };
    change(store, run, changes);
}

/// A program has had the store open.
pub(crate) fn note(store: &dyn Store, program: &Builder, day: u64) {
    let manifest = program.manifest();
    let record = ProgramRecord {
        artifact: manifest.artifact.clone(),
        manifest: manifest.to_value(),
        at: Timestamp::from_millis(day * 86_400_000),
    };
    wait(|ack| store.record_program(record, ack));
}

fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> T {
    let (answer, answered) = channel();
    write(Box::new(move |result: Result<T, StoreError>| {
        answer.send(result).unwrap();
    }));
    answered.recv().unwrap().unwrap()
}

/// The text without the digests of this executable, which is another one after each change to it.
fn without_builds(text: &str) -> String {
    let mut parts = text.split("(build ");
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        masked.push_str("(build [build]");
        masked.push_str(rest);
    }
    masked
}
