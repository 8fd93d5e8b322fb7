//! `unblock`: a run of a store that is stopped is tried again by the next program that is started on it (S16).

use std::fmt;
use std::path::PathBuf;

use perennial::RunKey;

use super::stopped;
use crate::builder::Builder;
use crate::store::{BlockedChange, BlockedRecord, Changes, Commit, OpenError, Store, StoreError};

/// A run that the next program tries.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unblocked {
    /// The run.
    run: RunKey,
    /// The records that were cleared.
    records: Vec<BlockedRecord>,
}

/// Why a run was not unblocked. Nothing was changed.
#[derive(Clone, PartialEq)]
pub(super) enum UnblockError {
    /// The store cannot be opened.
    Open(OpenError),
    /// The store cannot be read or written.
    Store(StoreError),
    /// There is no such run.
    NotFound {
        /// The run.
        run: RunKey,
    },
    /// The run has ended.
    Ended {
        /// The run.
        run: RunKey,
    },
    /// It was unblocked before, and no program has been started since.
    Unblocked {
        /// The run.
        run: RunKey,
    },
    /// The run is not blocked.
    NotBlocked {
        /// The run.
        run: RunKey,
    },
}

impl fmt::Display for Unblocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, records } = self;
        writeln!(
            f,
            "the next program that is started on the store tries run {run}, and until then it counts as blocked\n"
        )?;
        f.write_str("what was recorded, and is cleared:")?;
        for record in records {
            if record.is_unreadable() {
                write!(f, "\n  {}  it could not be read", record.code)?;
                continue;
            }
            let unfit = if record.unfit { ", unfit" } else { "" };
            write!(
                f,
                "\n  {}  program {}{unfit}, {}",
                record.code, record.artifact, record.at
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for UnblockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => stopped::not_opened(f, error, "client.unblock(..)"),
            Self::Store(error) => write!(f, "nothing was changed: {error}"),
            Self::NotFound { run } => write!(
                f,
                "there is no run {run} in the store\n\n\
                 help: outside the default namespace a run is written `namespace/id`"
            ),
            Self::Ended { run } => write!(f, "run {run} has ended: there is nothing to be tried"),
            Self::Unblocked { run } => write!(
                f,
                "run {run} was unblocked before: the next program that is started on the store tries it"
            ),
            Self::NotBlocked { run } => write!(
                f,
                "run {run} is not blocked: it goes on when something happens to it"
            ),
        }
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for UnblockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnblockError {}

impl From<OpenError> for UnblockError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<StoreError> for UnblockError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Clears what programs have recorded of a run that they could not go on with, so that the next one that is started
/// tries it, whatever the run waits for. The store is the one in `folder`, or
/// that of the builder; one in a folder must not be in use.
///
/// The run itself is as it was: a program that it does not fit blocks it again.
///
/// # Errors
///
/// [`UnblockError`].
pub(super) fn unblock(
    builder: &Builder,
    folder: Option<PathBuf>,
    run: RunKey,
) -> Result<Unblocked, UnblockError> {
    stopped::with(builder, folder, |store| clear(builder, store, run))
}

fn clear(builder: &Builder, store: &dyn Store, run: RunKey) -> Result<Unblocked, UnblockError> {
    let Some(loaded) = store.load(&run)? else {
        return Err(UnblockError::NotFound { run });
    };
    if loaded.head.status.is_finished() {
        return Err(UnblockError::Ended { run });
    }
    if !loaded.head.blocked {
        return Err(UnblockError::NotBlocked { run });
    }
    if let [record] = &*loaded.blocked
        && record.is_unblocked()
    {
        return Err(UnblockError::Unblocked { run });
    }
    let now = builder.clock.now();
    // Without a record it would be left alone until something happens to it: until its timer is due, say.
    let artifact = builder.artifact.among(&store.programs()?).artifact();
    let record = BlockedRecord::unblocked(&run, artifact, now);
    let owner = store.enroll()?;
    let head = stopped::wait(|ack| store.claim(run.clone(), owner, ack))?;
    let commit = Commit {
        run: run.clone(),
        fence: head.fence,
        generation: head.generation,
        sequence: head.sequence,
        changes: Changes {
            stamp: head.stamp,
            blocked: Some(BlockedChange::Replace(record)),
            ..Changes::default()
        },
    };
    stopped::wait(|ack| store.commit(commit, ack))?;
    Ok(Unblocked {
        run,
        records: loaded.blocked,
    })
}
