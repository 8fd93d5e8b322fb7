//! `unblock`: a run of a store that is stopped is tried again by the next program that is started on it (S16).

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;

use perennial::RunKey;

use crate::builder::{Builder, StoreSource};
use crate::store::{
    Ack, BlockedChange, BlockedRecord, Changes, Commit, OpenError, SledStore, Store, StoreError,
};

/// A run that is not blocked any more.
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
            "run {run} is not blocked any more; the next program that is started on the store tries it\n"
        )?;
        f.write_str("what was recorded, and is cleared:")?;
        for record in records {
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
            Self::Open(OpenError::Held { folder, process }) => {
                let process =
                    process.map_or("another process".into(), |id| format!("process {id}"));
                write!(
                    f,
                    "the store {} is in use by {process}\n\n\
                     help: call `client.unblock(..)` in that program, or stop the program",
                    folder.display()
                )
            }
            Self::Open(error) => error.fmt(f),
            Self::Store(error) => write!(f, "nothing was changed: {error}"),
            Self::NotFound { run } => write!(
                f,
                "there is no run {run} in the store\n\n\
                 help: outside the default namespace a run is written `namespace/id`"
            ),
            Self::Ended { run } => write!(f, "run {run} has ended: there is nothing to be tried"),
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

/// Clears what programs have recorded of a run that they could not go on with. The store is the one in `folder`, or
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
    let folder = match (&builder.store, folder) {
        (_, Some(folder)) => folder,
        (StoreSource::Folder(folder), None) => folder.clone(),
        // It belongs to whoever opened it.
        (StoreSource::Store(store), None) => return clear(&**store, run),
    };
    let options = SledStore::options()
        .durability(builder.durability)
        .existing();
    let store = Arc::new(options.open(folder)?);
    let unblocked = clear(&*store, run);
    store.close()?;
    unblocked
}

fn clear(store: &dyn Store, run: RunKey) -> Result<Unblocked, UnblockError> {
    let Some(loaded) = store.load(&run)? else {
        return Err(UnblockError::NotFound { run });
    };
    if loaded.head.status.is_finished() {
        return Err(UnblockError::Ended { run });
    }
    if !loaded.head.blocked {
        return Err(UnblockError::NotBlocked { run });
    }
    let owner = store.enroll()?;
    let head = wait(|ack| store.claim(run.clone(), owner, ack))?;
    let commit = Commit {
        run: run.clone(),
        fence: head.fence,
        generation: head.generation,
        sequence: head.sequence,
        changes: Changes {
            stamp: head.stamp,
            blocked: Some(BlockedChange::Clear),
            ..Changes::default()
        },
    };
    wait(|ack| store.commit(commit, ack))?;
    Ok(Unblocked {
        run,
        records: loaded.blocked,
    })
}

fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> Result<T, StoreError> {
    let (answer, answered) = channel();
    write(Box::new(move |result| drop(answer.send(result))));
    answered.recv().unwrap_or_else(|_| {
        Err(StoreError::Unknown {
            reason: "it did not answer".into(),
        })
    })
}
