//! A history that does not fit the program (S17): which event, what was recorded and where, what the code
//! asks for and where, what to do.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::history::{CallSite, Decision, RecordSource};
use crate::prose::indent;
use crate::value::{Difference, Value};

/// What does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IncompatibleKind {
    /// The history has one thing, the code asks for another.
    Changed,
    /// The same thing with another input.
    ChangedInput,
    /// The code asks for something that the history does not have.
    Inserted,
    /// The history has something that the code does not ask for.
    Removed,
    /// Both have the same things in another order.
    Reordered,
    /// The code has ended and the history goes on.
    LeftOver,
    /// The history has a version of a marker that the code does not support (S36).
    MarkerUnsupported,
    /// The history has a marker that the code does not ask for, and that was not retired (S36).
    MarkerRemoved,
    /// The program has no such workflow or activity.
    NotRegistered,
    /// A recorded value is not of the type that the code expects.
    DoesNotDecode,
    /// The history has an event of a kind that is not known here.
    UnknownEvent,
    /// Events are missing.
    Gap,
    /// A record is damaged.
    Damaged,
    /// It was written by newer software.
    Newer,
}

impl IncompatibleKind {
    /// The stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Changed => "H201",
            Self::ChangedInput => "H202",
            Self::Inserted => "H203",
            Self::Removed => "H204",
            Self::Reordered => "H205",
            Self::LeftOver => "H206",
            Self::MarkerUnsupported => "H207",
            Self::MarkerRemoved => "H208",
            Self::NotRegistered => "H209",
            Self::DoesNotDecode => "H210",
            Self::UnknownEvent => "H211",
            Self::Gap => "H212",
            Self::Damaged => "H213",
            Self::Newer => "H214",
        }
    }

    /// The name that goes with the code.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::ChangedInput => "changed input",
            Self::Inserted => "inserted",
            Self::Removed => "removed",
            Self::Reordered => "reordered",
            Self::LeftOver => "left over",
            Self::MarkerUnsupported => "marker unsupported",
            Self::MarkerRemoved => "marker removed",
            Self::NotRegistered => "not registered",
            Self::DoesNotDecode => "does not decode",
            Self::UnknownEvent => "unknown event",
            Self::Gap => "gap",
            Self::Damaged => "damaged",
            Self::Newer => "newer software",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Self::NotRegistered => "the program lacks a part of it",
            Self::Gap | Self::Damaged => "its history cannot be read",
            Self::UnknownEvent | Self::Newer => "its history was written by newer software",
            _ => "its history does not fit this program",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::NotRegistered => "The run goes on when a program is started that has it.",
            Self::Gap | Self::Damaged => {
                "Keep a copy of the store before anything else. The run goes on when its history can be read again, \
                 as after restoring a backup."
            }
            Self::UnknownEvent | Self::Newer => {
                "The run goes on when the newer software is started again."
            }
            Self::DoesNotDecode => {
                "The run goes on when a program is started whose type can read what was stored; \
                 `#[serde(default)]` and `#[serde(alias = \"..\")]` keep old values readable."
            }
            Self::Changed | Self::ChangedInput | Self::Removed | Self::Reordered => {
                "The run goes on when a program is started that decides what was recorded: put it back, or start again \
                 the program that recorded it."
            }
            Self::Inserted => {
                "The run goes on when a program is started that does not decide this here: take it out, or start again \
                 the program that recorded the history."
            }
            Self::MarkerUnsupported => {
                "The run goes on when a program is started that supports this version of the marker: put its arm back, \
                 or start again the program that recorded it."
            }
            Self::MarkerRemoved => {
                "The run goes on when a program is started that asks for the marker here: put the call back, or, where \
                 the code of this version has stayed, retire the marker with `perennial lock --accept`."
            }
            Self::LeftOver => {
                "The run goes on when a program is started that does not end here: put back what followed, or start \
                 again the program that recorded it."
            }
        }
    }
}

/// One side of an incompatibility: a decision as the history has it, or as the code asks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What, as `activity charge_card`.
    pub what: String,
    /// The operation's number, where it is one.
    pub operation: Option<u64>,
    /// The input or value, where it has one and that is not longer than 16 KiB.
    pub value: Option<Value>,
    /// Where in the source, where that is known.
    pub site: Option<CallSite>,
}

/// The longest value that an error keeps, in bytes: an error is stored, and read by people.
const MAX_SIDE_VALUE: usize = 16 << 10;

impl Side {
    pub(crate) fn shortened(mut self) -> Self {
        let short = |value: &Value| value.as_json().len() <= MAX_SIDE_VALUE;
        self.value = self.value.filter(short);
        self
    }

    pub(crate) fn of(decision: &Decision) -> Self {
        let (what, operation, value) = match decision {
            Decision::ActivityScheduled {
                operation,
                name,
                input,
                ..
            } => (
                format!("activity {name}"),
                Some(*operation),
                Some(input.clone()),
            ),
            Decision::TimerStarted { operation, .. } => {
                ("sleep".to_owned(), Some(*operation), None)
            }
            Decision::Recorded { source, .. } => (Self::record(source), None, None),
            Decision::Marker { id, version, .. } => (Self::marker(id, *version), None, None),
            Decision::Dropped { operation } => ("drop".to_owned(), Some(*operation), None),
            Decision::Completed { value, .. } => {
                ("return of a result".to_owned(), None, Some(value.clone()))
            }
            Decision::Failed { error, .. } => {
                ("return of an error".to_owned(), None, Some(error.clone()))
            }
        };
        Self {
            what,
            operation,
            value,
            site: decision.site().cloned(),
        }
    }

    pub(crate) fn marker(id: &str, version: u32) -> String {
        format!("{} {version}", Self::marker_name(id))
    }

    pub(crate) fn marker_name(id: &str) -> String {
        format!("marker \"{}\"", id.escape_debug())
    }

    pub(crate) fn record(source: &RecordSource) -> String {
        match source {
            RecordSource::Random => "random draw".to_owned(),
            RecordSource::Uuid => "uuid".to_owned(),
            RecordSource::Named(name) => format!("recorded value \"{}\"", name.escape_debug()),
        }
    }

    fn text(&self) -> String {
        let operation = self.operation.map(|n| format!(" ~{n}")).unwrap_or_default();
        format!("{}{operation}", self.what)
    }
}

/// A marker that does not fit (S36).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkerMismatch {
    /// What the code calls the change.
    pub id: String,
    /// The version that the history has; `None`: it has none, which is version 0, the code before the marker.
    pub recorded: Option<u32>,
    /// The lowest and the highest version that the code supports; `None`: the code does not ask for the marker.
    pub supported: Option<(u32, u32)>,
}

/// A history that does not fit the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Incompatible {
    /// What does not fit.
    pub kind: IncompatibleKind,
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: String,
    /// The number of the first event that does not fit.
    pub event: u64,
    /// What the history has there.
    pub recorded: Option<Side>,
    /// What the code asks for there.
    pub asked: Option<Side>,
    /// Where two values differ.
    pub difference: Option<Difference>,
    /// The marker that does not fit, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<MarkerMismatch>,
    /// What else there is to say.
    pub detail: Option<String>,
    /// The program that began the run.
    pub started_by: String,
    /// The program that was to go on with it.
    pub artifact: String,
}

impl Incompatible {
    /// Something that a driver found before or beside the machine.
    #[must_use]
    pub fn found(
        kind: IncompatibleKind,
        run: impl fmt::Display,
        workflow: &str,
        event: u64,
        detail: String,
    ) -> Self {
        Self {
            kind,
            run: run.to_string(),
            workflow: workflow.to_owned(),
            event,
            recorded: None,
            asked: None,
            difference: None,
            marker: None,
            detail: Some(detail),
            started_by: String::new(),
            artifact: String::new(),
        }
    }

    /// Adds the programs.
    #[must_use]
    pub fn between(mut self, started_by: &str, artifact: &str) -> Self {
        started_by.clone_into(&mut self.started_by);
        artifact.clone_into(&mut self.artifact);
        self
    }
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            run,
            workflow,
            event,
            recorded,
            asked,
            ..
        } = self;
        writeln!(
            f,
            "run {run} ({workflow}) is blocked: {} [{} {}]\n\n  event {event}",
            kind.summary(),
            kind.code(),
            kind.name()
        )?;
        if recorded.is_some() || asked.is_some() {
            let nothing = match kind {
                IncompatibleKind::LeftOver => "nothing, it has ended",
                _ => "nothing, it waits",
            };
            side(f, "recorded", recorded.as_ref(), nothing, &self.started_by)?;
            side(f, "this code", asked.as_ref(), nothing, &self.artifact)?;
        }
        if let Some(difference) = &self.difference {
            writeln!(f, "      differs     {difference}")?;
        }
        if let Some(detail) = &self.detail {
            writeln!(f, "      {}", indent(detail, 6))?;
        }
        write!(f, "\nNothing was changed. {}", kind.remedy())
    }
}

fn side(
    f: &mut fmt::Formatter<'_>,
    who: &str,
    side: Option<&Side>,
    nothing: &str,
    artifact: &str,
) -> fmt::Result {
    let text = side.map_or_else(|| nothing.to_owned(), Side::text);
    let place = side
        .and_then(|side| side.site.as_ref())
        .map(|site| format!("  {site}"))
        .unwrap_or_default();
    let artifact = if artifact.is_empty() {
        String::new()
    } else {
        format!("  program {artifact}")
    };
    writeln!(f, "      {who:<11} {text:<36}{place}{artifact}")
}
