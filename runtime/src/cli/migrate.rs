//! `migrate`: a run of a store that is stopped is moved to a new one, which the next program that is started on the
//! store goes on with (S38).

use std::fmt;
use std::path::PathBuf;

use perennial::{RunId, RunKey};

use super::source::SourceError;
use super::{apart, stopped};
use crate::MigrateError;
use crate::builder::Builder;
use crate::migrate::{Looked, TRIES, Wish};
use crate::store::{OpenError, Refusal, Store, StoreError};

/// A run that goes on as a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// The run.
    pub run: RunKey,
    /// The new one.
    pub to: RunKey,
    /// It was moved there before, and nothing was changed.
    pub before: bool,
}

/// Why a run was not moved by the command. Nothing was changed.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum MoveError {
    /// The store cannot be opened.
    Open(OpenError),
    /// The run was not moved.
    Migrate(MigrateError),
    /// The system said no.
    Io(SourceError),
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, to, before } = self;
        if *before {
            return write!(
                f,
                "run {run} was migrated to run {to} before; nothing was changed"
            );
        }
        write!(
            f,
            "run {run} was migrated to run {to}; the next program that is started on the store goes on with that one"
        )
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => stopped::not_opened(f, error, "client.migrate(..)"),
            Self::Migrate(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for MoveError {}

impl From<OpenError> for MoveError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<MigrateError> for MoveError {
    fn from(error: MigrateError) -> Self {
        Self::Migrate(error)
    }
}

impl From<StoreError> for MoveError {
    fn from(error: StoreError) -> Self {
        Self::Migrate(error.into())
    }
}

/// Moves a run by a migration that was given to the builder. The store is the one in `folder`, or that of the
/// builder; one in a folder must not be in use.
///
/// # Errors
///
/// [`MoveError`].
pub(super) fn migrate(
    builder: &Builder,
    folder: Option<PathBuf>,
    run: RunKey,
    migration: &str,
    to: RunId,
) -> Result<Moved, MoveError> {
    let migration = builder.registry.migration(migration)?;
    let wish = Wish { run, migration, to };
    stopped::with(builder, folder, |store| carry_out(builder, store, &wish))
}

fn carry_out(builder: &Builder, store: &dyn Store, wish: &Wish) -> Result<Moved, MoveError> {
    let (artifact, mut owner) = (builder.artifact.among(&store.programs()?).artifact(), None);
    let moved = |before| Moved {
        run: wish.run.clone(),
        to: wish.new_run(),
        before,
    };
    for _ in 0..TRIES {
        // The migration may panic, and that is told as the error of this run.
        let looked = apart(|| Ok(wish.look(store, &builder.registry))).map_err(MoveError::Io)??;
        let plan = match looked {
            Looked::Done => return Ok(moved(true)),
            Looked::Plan(plan) => plan,
        };
        let owner = match owner {
            Some(owner) => owner,
            None => *owner.insert(store.enroll()?),
        };
        let head = stopped::wait(|ack| store.claim(wish.run.clone(), owner, ack))?;
        let loaded = store
            .load(&wish.run)?
            .filter(|loaded| plan.fits(&loaded.head));
        // A store that was opened beforehand may be in use by others.
        let Some(loaded) = loaded else { continue };
        let write = plan.write(&loaded, head.fence, owner, &artifact, builder.clock.now());
        match stopped::wait(|ack| store.migrate(write, ack)) {
            Ok(_) => return Ok(moved(false)),
            Err(StoreError::Refused(Refusal::Exists { run } | Refusal::Restoring { run })) => {
                return Err(MigrateError::TargetExists { run }.into());
            }
            Err(StoreError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(MigrateError::Moving {
        run: wish.run.clone(),
        tries: TRIES,
    }
    .into())
}
