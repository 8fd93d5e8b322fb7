//! How a runtime is put together.

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use perennial::{
    ActivityDefinition, ActivityFn, ActivitySet, MigrationDefinition, MigrationFn, States,
    StubDefinition, StubFn, WorkflowDefinition, WorkflowFn,
};

use crate::Runtime;
use crate::artifact::Artifact;
use crate::clock::{Clock, SystemClock};
use crate::control::{self, ControlError};
use crate::engine::{Engine, Parts, Settings, ToShard};
use crate::manifest::Manifest;
use crate::registry::{Incomplete, Registry};
use crate::store::{Durability, MAX_NAME_BYTES, OpenError, SledStore, Store, StoreError};

/// What a runtime can keep its runs in: a folder for the embedded store, or a [`Store`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something that a runtime can keep its runs in",
    label = "expected a folder or a store",
    note = "a folder is a text or a path, as in `Runtime::builder(\"./data\")`; a store implements `perennial_runtime::store::Store`"
)]
pub trait IntoStore {
    /// What it is.
    fn into_source(self) -> StoreSource;
}

/// Where a runtime keeps its runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreSource {
    /// The embedded store in this folder, which is made if it is not there.
    Folder(PathBuf),
    /// A store that is open.
    Store(Arc<dyn Store>),
}

impl<S: Store> IntoStore for S {
    fn into_source(self) -> StoreSource {
        StoreSource::Store(Arc::new(self))
    }
}

impl IntoStore for Arc<dyn Store> {
    fn into_source(self) -> StoreSource {
        StoreSource::Store(self)
    }
}

macro_rules! folder {
    ($($type:ty)*) => {$(
        /// The embedded store in this folder, which is made if it is not there.
        impl IntoStore for $type {
            fn into_source(self) -> StoreSource {
                StoreSource::Folder(self.into())
            }
        }
    )*};
}

folder!(&str String &String PathBuf &PathBuf &Path);

/// A runtime that could not be started.
#[non_exhaustive]
pub enum StartupError {
    /// It cannot be asked from outside, as it was to be.
    Control(ControlError),
    /// Something that it needs was not registered.
    Incomplete(Incomplete),
    /// The store could not be opened.
    Open(OpenError),
    /// The store could not be read.
    Store(StoreError),
    /// `start` was called outside a tokio runtime.
    NoTokio,
}

impl fmt::Display for StartupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Control(error) => error.fmt(f),
            Self::Incomplete(error) => error.fmt(f),
            Self::Open(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::NoTokio => f.write_str(
                "the runtime was started outside a tokio runtime, which runs its activities\n\n\
                 help: call `start` in an async function under `#[tokio::main]`",
            ),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for StartupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for StartupError {}

impl From<ControlError> for StartupError {
    fn from(error: ControlError) -> Self {
        Self::Control(error)
    }
}

impl From<StoreError> for StartupError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// How long the ids of purged runs are kept where nothing else is said.
pub(crate) const KEEP_IDS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Puts a [`Runtime`] together. See [`Runtime::builder`].
#[derive(Debug)]
#[must_use = "a runtime does nothing until `start` is called and awaited"]
pub struct Builder {
    pub(crate) store: StoreSource,
    pub(crate) durability: Durability,
    pub(crate) registry: Registry,
    states: States,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) artifact: Artifact,
    settings: Settings,
    control: bool,
}

impl Builder {
    pub(crate) fn new(store: StoreSource) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            store,
            durability: Durability::default(),
            registry: Registry::default(),
            states: States::default(),
            clock: Arc::new(SystemClock),
            artifact: Artifact::default(),
            settings: Settings {
                shards: cores.min(8),
                activities: 100,
                warm_memory: 100 << 20,
                slow_poll: Duration::from_millis(100),
                retention: None,
                keep_ids: KEEP_IDS,
            },
            control: false,
        }
    }

    /// Runs can be started of this workflow, and go on.
    pub fn workflow<M, F: WorkflowFn<M>>(mut self, _: F) -> Self {
        self.registry.add_workflow(WorkflowDefinition::of::<F::W>());
        self
    }

    /// Workflows can call this activity.
    pub fn activity<M, F: ActivityFn<M>>(mut self, _: F) -> Self {
        self.registry.add_activity(ActivityDefinition::of::<F::A>());
        self
    }

    /// Workflows can call these activities: a tuple of up to twelve.
    pub fn activities<M, F: ActivitySet<M>>(mut self, activities: F) -> Self {
        for activity in activities.definitions() {
            self.registry.add_activity(activity);
        }
        self
    }

    /// Values that are given by name for calls of this stub are looked at: one that is not of its type is refused, and
    /// the call stays open ([`Client::fulfil_json`](crate::Client::fulfil_json)). Stubs that a workflow of the program
    /// calls by their names are looked at anyway, and workflows can call any.
    pub fn stub<M, F: StubFn<M>>(mut self, _: F) -> Self {
        self.registry.add_stub(StubDefinition::of::<F::S>());
        self
    }

    /// Runs can be moved by this migration where it is asked for by its name: by
    /// [`Client::migrate_named`](crate::Client::migrate_named) and by the command `migrate`.
    /// [`Client::migrate`](crate::Client::migrate) takes any.
    pub fn migration<X, F: MigrationFn<X>>(mut self, _: F) -> Self {
        let migration = MigrationDefinition::of::<F::M>();
        self.registry.add_migration(migration);
        self
    }

    /// Hands `state` to the activities that ask for its type with `acx.state::<T>()`. One value a type; a
    /// second one takes the place of the first.
    pub fn state<T: Any + Send + Sync>(mut self, state: T) -> Self {
        self.states.insert(state);
        self
    }

    /// What an acknowledged commit of the embedded store survives: with `Sync`, the default, a power cut;
    /// with `Os` the end of the process. A store that was opened beforehand has its own.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How many threads run workflows. Default: one a core, at most 8.
    pub fn shards(mut self, count: usize) -> Self {
        self.settings.shards = count.max(1);
        self
    }

    /// How many activities run at the same time in this process; more wait in line. Default: 100.
    pub fn max_activities(mut self, count: usize) -> Self {
        self.settings.activities = count.max(1);
        self
    }

    /// About how many bytes runs may hold in memory, together, while nothing happens to them. With more, those
    /// that nothing has happened to for the longest time leave the memory, and are replayed when they are
    /// woken. 0: all do at once. Default: 100 MiB.
    ///
    /// It is an estimate: what a workflow's own values have on the heap, in a `Vec` or a `String`, is not
    /// seen. A run whose workflow waits in one place holds about 2.5 KB beside its own values. Runs that are
    /// being worked on are not counted, nor is what the store keeps in memory.
    pub fn warm_memory(mut self, bytes: usize) -> Self {
        self.settings.warm_memory = bytes;
        self
    }

    /// From how long on a warning is logged when a workflow's code holds its thread. Default: 100 ms.
    pub fn slow_poll(mut self, limit: Duration) -> Self {
        self.settings.slow_poll = limit;
        self
    }

    /// How long runs are kept after their ends; then they are purged, in the background. Default: for ever.
    ///
    /// Of a purged run the id, the digest of the input and how it ended are known for as long as
    /// [`keep_ids`](Self::keep_ids) says. Its history, its result and what came too late for it are gone. A run
    /// whose activities have not ended is kept until they have.
    pub fn retention(mut self, kept: Duration) -> Self {
        self.settings.retention = Some(kept);
        self
    }

    /// How long a purged run's id stands for it, so that a start that is repeated does not run it again (S26).
    /// Default: 30 days. After that a start with the id begins a new run.
    pub fn keep_ids(mut self, kept: Duration) -> Self {
        self.settings.keep_ids = kept;
        self
    }

    /// Lets the program be asked by others while it runs, by the command `perennial` for one: through a Unix socket
    /// in the folder of its store, [`control.socket`](crate::control). Default: nobody can.
    ///
    /// The socket is for the user alone who has started the program, and for root. Whoever can use it can read
    /// all runs, and send to them. It is there from the start until the runtime is stopped, and one that a killed
    /// program has left behind is replaced. [`start`](Self::start) fails with [`StartupError::Control`] where it
    /// cannot be had: the store is in no folder, the path is too long, the system has no such sockets.
    pub fn control_socket(mut self) -> Self {
        self.control = true;
        self
    }

    /// The clock that stamps are taken from. Default: the system's.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The name of this program in histories and errors: at most 1,024 bytes. Default: a digest of the executable.
    ///
    /// A run whose history does not fit one program is tried again by another, and a program is another one as soon
    /// as its executable is another. Where a store has had a program of this name open whose executable was another,
    /// this one is known there as `NAME (build 1f2e3d4c)` (S16).
    pub fn artifact(mut self, name: impl Into<String>) -> Self {
        self.artifact.name = Some(name.into());
        self
    }

    /// Another build than that of the executable, so that a test can be two programs.
    #[doc(hidden)]
    pub fn build_of(mut self, build: impl Into<String>) -> Self {
        self.artifact.build = Some(build.into());
        self
    }

    /// What the program can run. Nothing is opened or started for it; what was registered may lack something.
    ///
    /// Its name, where none was given, takes reading the executable.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        Manifest::of(&self.registry, &self.artifact.name())
    }

    /// Whether nothing is missing.
    #[cfg(feature = "cli")]
    pub(crate) fn check(&self) -> Result<(), Incomplete> {
        self.registry.check(&self.states)
    }

    /// Checks that nothing is missing, opens the store, and goes on with all runs that have something to do.
    ///
    /// # Errors
    ///
    /// [`StartupError`]: something was not registered, the store cannot be opened or read, there is no
    /// tokio runtime, or no [control socket](Self::control_socket) where there was to be one.
    pub async fn start(self) -> Result<Runtime, StartupError> {
        let tokio = tokio::runtime::Handle::try_current().map_err(|_| StartupError::NoTokio)?;
        let Self {
            store,
            durability,
            mut registry,
            states,
            clock,
            artifact,
            settings,
            control,
        } = self;
        registry.check(&states).map_err(StartupError::Incomplete)?;
        registry.states = Arc::new(states);
        // Found now, and not when the first run is blocked.
        if let Some(size) = artifact
            .name
            .as_ref()
            .map(String::len)
            .filter(|size| *size > MAX_NAME_BYTES)
        {
            let (what, size, limit) = (
                "the name of the artifact",
                size as u64,
                MAX_NAME_BYTES as u64,
            );
            return Err(StartupError::Store(StoreError::TooLarge {
                what,
                size,
                limit,
            }));
        }
        let handle = tokio.clone();
        let opening = tokio.spawn_blocking(move || -> Result<Engine, StartupError> {
            let store = match store {
                StoreSource::Store(store) => store,
                StoreSource::Folder(folder) => {
                    let options = SledStore::options().durability(durability);
                    Arc::new(options.open(folder).map_err(StartupError::Open)?)
                }
            };
            let parts = Parts {
                store,
                artifact,
                registry,
                clock,
                settings,
                tokio: handle,
                by_run: ToShard::random(),
            };
            if !control {
                return Ok(Engine::start(parts)?);
            }
            // Before a run goes on: without it nothing was to be done.
            let socket = control::Bound::make(parts.store.folder())?;
            let mut engine = Engine::start(parts)?;
            engine.control = Some(socket.listen(&engine.shared)?);
            Ok(engine)
        });
        match opening.await {
            Ok(engine) => Ok(Runtime::new(engine?)),
            Err(failed) => match failed.try_into_panic() {
                Ok(payload) => std::panic::resume_unwind(payload),
                // It is being shut down.
                Err(_) => Err(StartupError::NoTokio),
            },
        }
    }
}
