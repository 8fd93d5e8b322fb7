//! Moving a run to a new one (S38): what the migration is shown, what it decides, and what is written.
//!
//! The store is read without holding anybody up; so what was seen is compared with what is there when it is
//! written ([`Plan::fits`]), and a run that has gone on meanwhile is looked at again.

mod error;

use std::panic::{AssertUnwindSafe, catch_unwind};

use perennial::history::{History, Migrated, Observation, SEMANTICS, Started, Unit};
use perennial::value::Value;
use perennial::{BlockedBy, MigrationDefinition, OldRun, RunId, RunKey, Timestamp};

pub use error::MigrateError;

use crate::activity::panic_text;
use crate::registry::Registry;
use crate::store::{
    AttemptOutcome, AttemptRecord, BlockedChange, Changes, Commit, Fence, Head, Loaded, Migrate,
    Owner, PauseChange, Status, Store, StoreError, TaskChange, TimerChange,
};

/// How often a run that goes on meanwhile is looked at.
pub(crate) const TRIES: u32 = 10;

/// So many units are read at once.
const PAGE: usize = 1_000;

/// What is to be moved, by which migration, and where.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) run: RunKey,
    pub(crate) migration: MigrationDefinition,
    /// The new run, in the namespace of the old one.
    pub(crate) to: RunId,
}

/// What a look at the run has come to.
#[derive(Debug)]
pub(crate) enum Looked {
    /// It was moved there before.
    Done,
    /// This is to be written.
    Plan(Box<Plan>),
}

/// What a migration has decided of a run, as it was seen.
#[derive(Debug)]
pub(crate) struct Plan {
    run: RunKey,
    seen: Stand,
    to: RunId,
    input: Value,
    definition: MigrationDefinition,
    kept: Vec<perennial::history::OpenOperation>,
    stopped: Vec<u64>,
}

/// Where a run stands. What a migration is shown cannot change without this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stand {
    generation: u64,
    sequence: u64,
    arrivals: u64,
}

impl Stand {
    fn of(head: &Head) -> Self {
        Self {
            generation: head.generation,
            sequence: head.sequence,
            arrivals: head.arrivals,
        }
    }
}

impl Wish {
    /// The new run.
    pub(crate) fn new_run(&self) -> RunKey {
        RunKey::new(self.run.namespace.clone(), self.to.clone())
    }

    /// Shows the run to the migration.
    pub(crate) fn look(
        &self,
        store: &dyn Store,
        registry: &Registry,
    ) -> Result<Looked, MigrateError> {
        let Self { run, migration, .. } = self;
        let Some(loaded) = store.load(run)? else {
            return Err(MigrateError::NotFound { run: run.clone() });
        };
        if self.is_done(store, &loaded.head)? {
            return Ok(Looked::Done);
        }
        let to = migration.to.name;
        if !registry.workflows.contains_key(to) {
            return Err(MigrateError::UnknownWorkflow {
                name: to.to_owned(),
                closest: registry.closest_workflow(to),
            });
        }
        if store.head(&self.new_run())?.is_some() {
            let run = self.new_run();
            return Err(MigrateError::TargetExists { run });
        }
        let seen = Stand::of(&loaded.head);
        let old = old_run(store, run, loaded)?;
        let input = self.decide(&old)?;
        Ok(Looked::Plan(Box::new(Plan {
            run: run.clone(),
            seen,
            to: self.to.clone(),
            input,
            definition: *migration,
            kept: old.open_activities(),
            stopped: old.ending(),
        })))
    }

    /// Whether the run was moved to this new run before. A run that is not one to be moved is an error.
    fn is_done(&self, store: &dyn Store, head: &Head) -> Result<bool, MigrateError> {
        let Self {
            run, migration, to, ..
        } = self;
        let run = || run.clone();
        if let Some(went) = &head.migrated_to {
            let new = match went == to {
                true => store.head(&self.new_run())?,
                false => None,
            };
            return match new {
                Some(new) if new.workflow == migration.to.name => Ok(true),
                _ => Err(MigrateError::Migrated {
                    run: run(),
                    to: went.clone(),
                }),
            };
        }
        if head.status.is_finished() {
            return Err(MigrateError::Finished {
                run: run(),
                status: head.status,
            });
        }
        if head.workflow != migration.from {
            return Err(MigrateError::OtherWorkflow {
                run: run(),
                workflow: head.workflow.clone(),
                migration: migration.name.to_owned(),
                from: migration.from.to_owned(),
            });
        }
        Ok(false)
    }

    /// Runs the migration, and holds what it says against what is open.
    fn decide(&self, old: &OldRun) -> Result<Value, MigrateError> {
        let (run, migration) = (|| self.run.clone(), || self.migration.name.to_owned());
        // It is code of the user's.
        let decided = catch_unwind(AssertUnwindSafe(|| (self.migration.run)(old)));
        let input = match decided {
            Ok(Ok(input)) => input,
            Ok(Err(refuse)) => {
                return Err(MigrateError::Refused {
                    run: run(),
                    migration: migration(),
                    refuse,
                });
            }
            Err(payload) => {
                return Err(MigrateError::Panicked {
                    run: run(),
                    migration: migration(),
                    message: panic_text(payload.as_ref()),
                });
            }
        };
        let open = old.undisposed();
        if open.is_empty() {
            return Ok(input);
        }
        Err(MigrateError::Open {
            run: run(),
            migration: migration(),
            open,
        })
    }
}

/// The run as the migration sees it.
fn old_run(store: &dyn Store, run: &RunKey, loaded: Loaded) -> Result<OldRun, StoreError> {
    let Loaded {
        head,
        queue,
        blocked,
        ..
    } = loaded;
    let mut units: Vec<Unit> = Vec::new();
    let gap = |expected| StoreError::Gap {
        run: run.clone(),
        expected,
        found: None,
    };
    let mut next = 1;
    while next <= head.sequence {
        let page = store.history(run, head.generation, next, PAGE)?;
        let Some(last) = page.last() else {
            return Err(gap(next));
        };
        next = last.last() + 1;
        // It may have grown since the head was read.
        units.extend(page.into_iter().filter(|unit| unit.number <= head.sequence));
    }
    let history = History {
        run: run.clone(),
        generation: head.generation,
        units,
    };
    let arrived = queue.into_iter().map(|row| row.observation).collect();
    let blocked = blocked.into_iter();
    let blocked = blocked.map(|record| BlockedBy::new(record.artifact, record.code, record.text));
    OldRun::new(history, arrived, blocked.collect()).map_err(|_| gap(1))
}

impl Plan {
    /// Whether the run is still as the migration has seen it.
    pub(crate) fn fits(&self, head: &Head) -> bool {
        self.seen == Stand::of(head) && !head.status.is_finished()
    }

    /// The new run.
    pub(crate) fn new_run(&self) -> RunKey {
        RunKey::new(self.run.namespace.clone(), self.to.clone())
    }

    /// The write that moves the run, which stands as `loaded` says and is owned under `fence`.
    pub(crate) fn write(
        self,
        loaded: &Loaded,
        fence: Fence,
        owner: Owner,
        artifact: &str,
        now: Timestamp,
    ) -> Migrate {
        let new = self.new_run();
        let at = now.max(loaded.head.stamp);
        let begun = Started {
            workflow: self.definition.to.name.to_owned(),
            input: self.input,
            semantics: SEMANTICS,
            artifact: artifact.to_owned(),
            namespace: new.namespace,
            run: new.id,
            generation: 1,
            first_operation: 1,
            version: self.definition.to.graph.version,
            migrated_from: Some(self.run.id.clone()),
            forked_from: Vec::new(),
            streams: Vec::new(),
        };
        let (workflow, input) = (begun.workflow.clone(), begun.input.digest());
        let migrated = Migrated {
            to: self.to.clone(),
            workflow: workflow.clone(),
            migration: self.definition.name.to_owned(),
            artifact: artifact.to_owned(),
            kept: self.kept,
            stopped: self.stopped,
            unstarted: unstarted(loaded),
        };
        let mut changes = left(loaded, at);
        changes.units.push(Unit {
            number: loaded.head.sequence + 1,
            at,
            observation: Observation::Migrated(migrated),
            decisions: Vec::new(),
        });
        Migrate {
            end: Commit {
                run: self.run,
                fence,
                generation: self.seen.generation,
                sequence: self.seen.sequence,
                changes,
            },
            to: self.to,
            workflow,
            input,
            owner,
            begin: Changes {
                enqueue: vec![Observation::Started(begun)],
                // Who paused the run did not ask for another name of it.
                pause: loaded.head.paused.map(|at| PauseChange::Pause { at }),
                stamp: at,
                ..Changes::default()
            },
        }
    }
}

/// How the run would have begun, where no program has begun it.
fn unstarted(loaded: &Loaded) -> Option<Box<Started>> {
    let first = loaded.queue.first().filter(|_| loaded.head.sequence == 0);
    match &first?.observation {
        Observation::Started(started) => Some(Box::new(started.clone())),
        _ => None,
    }
}

/// What an end changes beside the history (S11): timers end with the run, results that it was not told go to the
/// records of their operations, and tasks go on.
fn left(loaded: &Loaded, at: Timestamp) -> Changes {
    let mut changes = Changes {
        status: Some(Status::Migrated),
        stamp: at,
        blocked: loaded.head.blocked.then_some(BlockedChange::Clear),
        ..Changes::default()
    };
    for row in &loaded.queue {
        // It stays with the run, unread (M42).
        if matches!(row.observation, Observation::MessageArrived(_)) {
            continue;
        }
        changes.taken.push(row.arrival);
        let (operation, result) = match &row.observation {
            Observation::ActivityCompleted { operation, result } => (*operation, Some(result)),
            Observation::ActivityFailed { operation, .. } => (*operation, None),
            _ => continue,
        };
        changes.tasks.push(TaskChange::Remove(operation));
        if let Some(result) = result {
            let task = loaded.tasks.iter().find(|task| task.operation == operation);
            changes.attempts.push(AttemptRecord {
                operation,
                // Of one that has waited in the queue no task knows the number any more.
                attempt: task.map_or(0, |task| task.attempt),
                outcome: AttemptOutcome::Late {
                    result: result.clone(),
                },
                at,
            });
        }
    }
    let timers = loaded.timers.iter();
    changes.timers = timers
        .map(|&(operation, deadline)| TimerChange::Remove {
            operation,
            deadline,
        })
        .collect();
    changes
}
