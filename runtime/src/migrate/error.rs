//! Why a run was not moved.

use std::fmt;

use perennial::{InvalidId, Open, OpenKind, Refuse, RunId, RunKey};

use crate::error::Unavailable;
use crate::store::{Status, StoreError};

/// A run that was not moved to a new one. Nothing was changed, unless the error says that this is not known.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum MigrateError {
    /// An id cannot be used.
    InvalidId(InvalidId),
    /// There is no such run.
    NotFound {
        /// The run.
        run: RunKey,
    },
    /// The migration moves runs of another workflow.
    OtherWorkflow {
        /// The run.
        run: RunKey,
        /// Its workflow.
        workflow: String,
        /// The migration.
        migration: String,
        /// The workflow that it moves runs of.
        from: String,
    },
    /// The run has ended.
    Finished {
        /// The run.
        run: RunKey,
        /// How it stands.
        status: Status,
    },
    /// The run was moved already, and not to this run.
    Migrated {
        /// The run.
        run: RunKey,
        /// Where it went, in the same namespace.
        to: RunId,
    },
    /// There is a run of the new id already.
    TargetExists {
        /// That run.
        run: RunKey,
    },
    /// The new run's workflow is not in this program, so the new run would be blocked.
    UnknownWorkflow {
        /// Its name.
        name: String,
        /// The name that is most like it.
        closest: Option<String>,
    },
    /// There is no such migration in this program.
    UnknownMigration {
        /// The name that was asked for.
        name: String,
        /// The name that is most like it.
        closest: Option<String>,
    },
    /// The migration does not say what becomes of what is open (S38).
    Open {
        /// The run.
        run: RunKey,
        /// The migration.
        migration: String,
        /// What it says nothing of.
        open: Vec<Open>,
    },
    /// The migration does not move this run.
    Refused {
        /// The run.
        run: RunKey,
        /// The migration.
        migration: String,
        /// Why.
        refuse: Refuse,
    },
    /// The migration panicked.
    Panicked {
        /// The run.
        run: RunKey,
        /// The migration.
        migration: String,
        /// What it said.
        message: String,
    },
    /// The run went on each time before what the migration had seen of it could be written.
    Moving {
        /// The run.
        run: RunKey,
        /// How often that was tried.
        tries: u32,
    },
    /// The store or the engine could not do it.
    Unavailable(Unavailable),
}

impl fmt::Display for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidId(error) => error.fmt(f),
            Self::NotFound { run } => write!(
                f,
                "there is no run {run}\n\nhelp: `client.list()` shows the runs of a namespace"
            ),
            Self::OtherWorkflow {
                run,
                workflow,
                migration,
                from,
            } => write!(
                f,
                "run {run} was not migrated: it is one of the workflow `{}`, and `{}` migrates those of `{}`",
                workflow.escape_debug(),
                migration.escape_debug(),
                from.escape_debug()
            ),
            Self::Finished { run, status } => {
                let how = match status {
                    Status::Failed => "has returned an error",
                    Status::Completed => "has returned a result",
                    _ => "has ended",
                };
                write!(
                    f,
                    "run {run} was not migrated: it {how}, and nothing of it goes on\n\n\
                     help: start a new run with `client.start(..)`"
                )
            }
            Self::Migrated { run, to } => write!(
                f,
                "run {run} was not migrated: it was migrated before, to {to}, and that one goes on in its place"
            ),
            Self::TargetExists { run } => write!(
                f,
                "nothing was migrated: there is a run {run} already\n\nhelp: choose another id for the new run"
            ),
            Self::UnknownWorkflow { name, closest } => {
                let name = name.escape_debug();
                write!(
                    f,
                    "nothing was migrated: no workflow `{name}` is registered in this program, so the new run would \
                     be blocked"
                )?;
                help(f, closest.as_deref(), ".workflow(..)")
            }
            Self::UnknownMigration { name, closest } => {
                let name = name.escape_debug();
                write!(f, "no migration `{name}` is registered in this program")?;
                help(f, closest.as_deref(), ".migration(..)")
            }
            Self::Open {
                run,
                migration,
                open,
            } => {
                let migration = migration.escape_debug();
                writeln!(
                    f,
                    "run {run} was not migrated: `{migration}` does not say what becomes of what is open"
                )?;
                for one in open {
                    write!(f, "\n    {one}")?;
                }
                f.write_str("\n\nhelp: ")?;
                f.write_str(&dispose(open))
            }
            Self::Refused {
                run,
                migration,
                refuse,
            } => {
                let migration = migration.escape_debug();
                write!(
                    f,
                    "run {run} was not migrated: `{migration}` refuses: {refuse}"
                )
            }
            Self::Panicked {
                run,
                migration,
                message,
            } => {
                let migration = migration.escape_debug();
                write!(
                    f,
                    "run {run} was not migrated: `{migration}` panicked: {message}"
                )
            }
            Self::Moving { run, tries } => write!(
                f,
                "run {run} was not migrated: it went on while the migration looked at it, {tries} times\n\n\
                 help: ask again, or stop the program and migrate the run of the store that is stopped"
            ),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

/// What a migration can do about what is open.
fn dispose(open: &[Open]) -> String {
    let activity = open.iter().find_map(|one| match &one.kind {
        OpenKind::Activity { name, .. } => Some(name.escape_debug()),
        _ => None,
    });
    let timer = open
        .iter()
        .any(|one| matches!(one.kind, OpenKind::Timer { .. }));
    let keep = activity.map(|name| {
        format!(
            "`old.keep_named(\"{name}\")` lets the open calls of an activity go on under the old run, where their \
             results are recorded"
        )
    });
    let stop = timer.then(|| "`old.stop_timers()` ends its timers with it".to_owned());
    let offer = open
        .iter()
        .any(|one| matches!(one.kind, OpenKind::Stub { .. }));
    let close = offer.then(|| "`old.close_offers()` closes its offers of stubs with it".to_owned());
    let ways: Vec<_> = keep.into_iter().chain(stop).chain(close).collect();
    ways.join("; ")
}

fn help(f: &mut fmt::Formatter<'_>, closest: Option<&str>, method: &str) -> fmt::Result {
    match closest {
        Some(closest) => write!(f, "\n\nhelp: there is one called `{closest}`"),
        None => write!(
            f,
            "\n\nhelp: add it to the runtime's builder with `{method}`"
        ),
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for MigrateError {}

impl From<InvalidId> for MigrateError {
    fn from(error: InvalidId) -> Self {
        Self::InvalidId(error)
    }
}

impl From<StoreError> for MigrateError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}
