//! What those outside do.

use std::fmt;

use perennial::history::Channel;
use perennial::value::Value;
use perennial::{MigrationDefinition, RunId, RunKey, WorkflowDefinition};

/// What a run is told, under an idempotency key.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) channel: Channel,
    pub(super) name: &'static str,
    pub(super) payload: Value,
    pub(super) key: String,
}

/// Something that somebody does.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Start {
        run: RunKey,
        workflow: WorkflowDefinition,
        input: Value,
        /// What comes with it.
        messages: Vec<Told>,
    },
    /// A signal is not sent before the run waits for it.
    Tell { run: RunKey, told: Told },
    /// Completes the so-manieth call of a stub, from 0, once it is there.
    Fulfil {
        run: RunKey,
        stub: &'static str,
        call: usize,
        value: Value,
    },
    /// Asks the run for a change, under an idempotency key, once it is there.
    Ask {
        run: RunKey,
        update: &'static str,
        input: Value,
        key: String,
    },
    /// Waits for what the run says after the so-manieth call of a stub.
    Hear {
        run: RunKey,
        stub: &'static str,
        call: usize,
    },
    /// Pauses the run, once it has called so many stubs.
    Pause { run: RunKey, calls: usize },
    /// Lets it go on, once it is paused and all its timers have rung.
    Resume { run: RunKey },
    /// Forks a run, after its first activity.
    Fork { run: RunKey, to: RunId },
    /// Moves a run to a new one, once it waits for that.
    Move {
        run: RunKey,
        migration: MigrationDefinition,
        to: RunId,
        waits: &'static str,
    },
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { run, .. } => write!(f, "the start of {run}"),
            Self::Tell { run, told } => write!(f, "{} {} to {run}", told.name, told.payload),
            Self::Fulfil {
                run,
                stub,
                call,
                value,
            } => write!(f, "{value} for call {call} of {stub} by {run}"),
            Self::Ask {
                run, update, input, ..
            } => write!(f, "update {update} {input} of {run}"),
            Self::Hear { run, stub, call } => {
                write!(f, "what {run} says after call {call} of {stub}")
            }
            Self::Pause { run, .. } => write!(f, "the pause of {run}"),
            Self::Resume { run } => write!(f, "the end of the pause of {run}"),
            Self::Fork { run, to } => write!(f, "the fork {to} of {run}"),
            Self::Move { run, to, .. } => write!(f, "the migration of {run} to {to}"),
        }
    }
}

impl Act {
    pub(super) fn run(&self) -> &RunKey {
        match self {
            Self::Start { run, .. }
            | Self::Tell { run, .. }
            | Self::Fulfil { run, .. }
            | Self::Ask { run, .. }
            | Self::Hear { run, .. }
            | Self::Pause { run, .. }
            | Self::Resume { run }
            | Self::Fork { run, .. }
            | Self::Move { run, .. } => run,
        }
    }

    /// The runs that there are with it.
    pub(super) fn runs(&self) -> Vec<RunKey> {
        let run = self.run().clone();
        match self {
            Self::Move { to, .. } | Self::Fork { to, .. } => {
                vec![RunKey::new(run.namespace.clone(), to.clone()), run]
            }
            _ => vec![run],
        }
    }

    /// The workflow that a program needs for it.
    pub(super) fn workflow(&self) -> Option<WorkflowDefinition> {
        match self {
            Self::Start { workflow, .. } => Some(*workflow),
            Self::Move { migration, .. } => Some(migration.to),
            _ => None,
        }
    }
}
