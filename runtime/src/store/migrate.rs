//! Moving a run to a new one (S38): one write ends the one and makes the other, so that a crash leaves both
//! as they were or both as they are to be.
//!
//! | the old run | the new run | what becomes of the write |
//! |---|---|---|
//! | stands where the writer says | is not there | both are changed |
//! | was moved to this new run | is of this workflow, with this input | nothing, and the answer is the new run's head |
//! | anything else | | refused, and nothing is changed |

use perennial::value::Digest;
use perennial::{RunId, RunKey};

use super::contract::{Changes, Commit, Create, Head, Owner, Status};
use super::rules::{self, Creation, Resolved};
use super::{Refusal, StoreError};

/// Ends a run and makes the one that goes on in its place.
#[derive(Clone, Debug)]
pub struct Migrate {
    /// What changes in the old run, and where it has to stand: fence, generation and last event, as of any
    /// commit. The run gets the status [`Status::Migrated`], whatever the changes say.
    pub end: Commit,
    /// The new run, in the namespace of the old one.
    pub to: RunId,
    /// The name of the new run's workflow.
    pub workflow: String,
    /// The digest of the new run's input.
    pub input: Digest,
    /// Who owns the new run from the first moment.
    pub owner: Owner,
    /// What comes with the new run: its first row in the queue.
    pub begin: Changes,
}

impl Migrate {
    /// The new run.
    #[must_use]
    pub fn new_run(&self) -> RunKey {
        RunKey::new(self.end.run.namespace.clone(), self.to.clone())
    }
}

/// What becomes of a migration.
#[derive(Debug)]
pub(super) enum Migration {
    New {
        end: Box<Resolved>,
        begin: Box<Resolved>,
    },
    /// It was done before, and this is the new run's head.
    Done(Box<Head>),
}

pub(super) fn migrate(
    old: Option<&Head>,
    new: Option<&Head>,
    migrate: &Migrate,
) -> Result<Migration, StoreError> {
    if let (Some(old), Some(new)) = (old, new)
        && old.migrated_to.as_ref() == Some(&migrate.to)
        && old.generation == migrate.end.generation
        && new.workflow == migrate.workflow
        && new.input == migrate.input
    {
        return Ok(Migration::Done(new.clone().into()));
    }
    let refused = |refusal| Err(StoreError::Refused(refusal));
    let mut end = rules::commit(old, &migrate.end)?;
    if old.is_some_and(|old| old.status.is_finished()) {
        let run = migrate.end.run.clone();
        return refused(Refusal::Finished { run });
    }
    rules::set_status(&mut end.head, Status::Migrated);
    end.head.migrated_to = Some(migrate.to.clone());
    let create = Create {
        run: migrate.new_run(),
        workflow: migrate.workflow.clone(),
        input: migrate.input,
        after: None,
        owner: migrate.owner,
        changes: migrate.begin.clone(),
        keys: Vec::new(),
    };
    match rules::create(new, &create)? {
        Creation::New(begin) => Ok(Migration::New {
            end: end.into(),
            begin: begin.into(),
        }),
        Creation::Exists(_) => refused(Refusal::Exists { run: create.run }),
    }
}
