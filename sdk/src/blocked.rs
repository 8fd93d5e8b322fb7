//! Why a run cannot go on for now (S14, S16). A blocked run is never failed, restarted or skipped ahead: its
//! history stays as it is, and it goes on when code that fits is started.

use std::fmt;

use serde::Serialize;

use crate::history::{CallSite, Unit};
use crate::prose::{indent, safe_lines};
use crate::value::EncodeError;
use crate::{Incompatible, IncompatibleKind};

/// Why a run is blocked.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Blocked {
    /// Its history does not fit the program.
    Incompatible(Box<Incompatible>),
    /// The workflow's code panicked.
    Panicked(Box<Panicked>),
    /// The workflow's code goes beyond a bound.
    Runaway(Runaway),
    /// The workflow waits for something that no history can record.
    NotDurable(NotDurable),
    /// The workflow gave a value that cannot be stored.
    Unstorable(Unstorable),
}

impl Blocked {
    /// The stable code: `H2..` where the history does not fit, `W1..` where the code is at fault.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Incompatible(error) => error.kind.code(),
            Self::Panicked(_) => "W101",
            Self::Runaway(_) => "W102",
            Self::NotDurable(_) => "W103",
            Self::Unstorable(_) => "W104",
        }
    }

    /// Whether the same program can never go on with the run, so that it need not try again (S16).
    #[must_use]
    pub fn is_unfit(&self) -> bool {
        match self {
            // Damage is in the store, not between the code and the history.
            Self::Incompatible(error) => !matches!(
                error.kind,
                IncompatibleKind::Damaged | IncompatibleKind::Gap
            ),
            _ => false,
        }
    }

    /// The same after a look at the units that follow the one which was refused, as far as the history has any: a
    /// machine gets a history unit by unit, and whether something was inserted, removed or moved shows in what
    /// follows. Some ten decisions are enough; more are not looked at.
    #[must_use]
    pub fn look_ahead(self, units: &[Unit]) -> Self {
        match self {
            Self::Incompatible(error) => Self::Incompatible(Box::new(error.look_ahead(units))),
            other => other,
        }
    }

    /// The text for a terminal: with colours, where it is about a history that does not fit.
    #[must_use]
    pub fn coloured(&self) -> String {
        match self {
            Self::Incompatible(error) => error.coloured().to_string(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(error) => error.fmt(f),
            Self::Panicked(error) => error.fmt(f),
            Self::Runaway(error) => error.fmt(f),
            Self::NotDurable(error) => error.fmt(f),
            Self::Unstorable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Blocked {}

/// The workflow's code panicked. Nothing of that unit was committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Panicked {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: &'static str,
    /// The number of the last event in the history; 0: there is none.
    pub event: u64,
    /// The await that the code had passed last since that event, where it had passed one.
    pub site: Option<CallSite>,
    /// What the panic said.
    pub message: String,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            event,
            site,
            message,
        } = self;
        write!(
            f,
            "run {run} ({workflow}) is blocked: the workflow's code panicked "
        )?;
        match event {
            0 => f.write_str("at its beginning")?,
            event => write!(f, "after event {event}")?,
        }
        write!(f, " [W101]\n\n  {}\n", indent(&safe_lines(message), 2))?;
        if let Some(site) = site {
            writeln!(f, "\n  after the await at {site} in {}", site.function)?;
        }
        f.write_str(
            "\nNothing was changed. The run is tried again when a program is started that has the cause repaired.",
        )
    }
}

/// The workflow's code goes beyond a bound (S15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Runaway {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: &'static str,
    /// The number of the event that the code was about to cause.
    pub event: u64,
    /// What is bounded.
    pub what: &'static str,
    /// How many there would be.
    pub count: u64,
    /// How many there may be.
    pub limit: u64,
}

impl fmt::Display for Runaway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            event,
            what,
            count,
            limit,
        } = self;
        write!(
            f,
            "run {run} ({workflow}) is blocked: {count} {what}, and there may be at most {limit}; this would be \
             event {event} [W102]\n\nNothing was changed. Look for a loop that does not end, or do the work in \
             several runs; the run is tried again when a program is started that stays within the bound."
        )
    }
}

/// The workflow waits for something that no history can record (S9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotDurable {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: &'static str,
    /// The number of the event that the code was about to cause.
    pub event: u64,
    /// The await that is nearest to it, or the workflow's function where none is known.
    pub site: Option<CallSite>,
}

impl fmt::Display for NotDurable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            event,
            site,
        } = self;
        write!(
            f,
            "run {run} ({workflow}) is blocked: before event {event} it waits for something that is not durable, \
             so that nothing would ever wake it [W103]\n\n"
        )?;
        if let Some(site) = site {
            writeln!(f, "  in {} at {site}\n", site.function)?;
        }
        f.write_str(
            "Nothing was changed. Look for an `.await` inside a macro that the attributes cannot see into, and \
             for a `Future` written by hand; await activities, timers and `#[durable]` functions only. The run is \
             tried again when a program is started that does.",
        )
    }
}

/// The workflow gave a value that cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unstorable {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: &'static str,
    /// The number of the event that the code was about to cause.
    pub event: u64,
    /// Which value.
    pub what: String,
    /// Why it cannot be stored.
    #[serde(serialize_with = "as_text")]
    pub error: EncodeError,
}

fn as_text<S: serde::Serializer>(error: &EncodeError, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}

impl fmt::Display for Unstorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            event,
            what,
            error,
        } = self;
        write!(
            f,
            "run {run} ({workflow}) is blocked: event {event} cannot be written [W104]\n\n  {what}: {}\n\n\
             Nothing was changed. The run is tried again when a program is started that gives another value.",
            indent(&safe_lines(&error.to_string()), 2)
        )
    }
}
