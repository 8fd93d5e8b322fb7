//! A history that does not fit the program (S17): which event, what was recorded and where, what the code
//! asks for and where, what to do.

mod classify;
mod kinds;
mod remedy;
mod sides;
mod text;
mod window;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use classify::{Ahead, Evidence, LOOKED_AT};
pub use kinds::IncompatibleKind;
pub use remedy::Remedy;
pub use sides::{MarkerMismatch, Side};
pub use text::Coloured;

use crate::history::Unit;
use crate::prose::shorten;
use crate::value::Difference;

/// A history that does not fit the program.
///
/// All of it is data, in JSON too: an error that an older or a newer version has stored can be read, and what the
/// reader does not know of it is passed over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Incompatible {
    /// What does not fit.
    pub kind: IncompatibleKind,
    /// The run.
    #[serde(default)]
    pub run: String,
    /// The workflow.
    #[serde(default)]
    pub workflow: String,
    /// The number of the first event that does not fit.
    #[serde(default)]
    pub event: u64,
    /// What the history has there.
    #[serde(default)]
    pub recorded: Option<Side>,
    /// What the code asks for there.
    #[serde(default)]
    pub asked: Option<Side>,
    /// What the history has from there on, the first of it included: at most four.
    #[serde(default)]
    pub recorded_next: Vec<Side>,
    /// What the code asks for from there on, the first of it included: at most four. Those without an operation's
    /// number are known from the source.
    #[serde(default)]
    pub asked_next: Vec<Side>,
    /// Where two values differ.
    #[serde(default)]
    pub difference: Option<Difference>,
    /// The marker that does not fit, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<MarkerMismatch>,
    /// What else there is to say.
    #[serde(default)]
    pub detail: Option<String>,
    /// What can be done, the best first.
    #[serde(default)]
    pub remedies: Vec<Remedy>,
    /// The program that began the run.
    #[serde(default)]
    pub started_by: String,
    /// The label that the workflow had in it, `#[workflow(version = 3)]`.
    #[serde(default)]
    pub started_version: Option<u32>,
    /// The program that was to go on with it.
    #[serde(default)]
    pub artifact: String,
    /// The label that the workflow has in it.
    #[serde(default)]
    pub version: Option<u32>,
    /// The attribute by which an activity that has only got another name keeps its old one.
    #[serde(default)]
    pub renamed: Option<String>,
    /// What the kind was told from.
    #[serde(skip)]
    told_from: ToldFrom,
}

/// The longest detail that an error keeps, in bytes: what is not readable has any length.
const MAX_DETAIL: usize = 4 << 10;
/// The longest name of a program that an error keeps, in bytes; a runtime allows no longer one.
const MAX_ARTIFACT: usize = 1 << 10;

/// The kind that replay has found, and what else it has seen. Not a part of the error: two errors are the same
/// whatever they were told from.
#[derive(Clone, Default)]
struct ToldFrom(Option<Box<(IncompatibleKind, Evidence)>>);

impl PartialEq for ToldFrom {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for ToldFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
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
        let mut error = Self {
            kind,
            run: run.to_string(),
            workflow: workflow.to_owned(),
            event,
            recorded: None,
            asked: None,
            recorded_next: Vec::new(),
            asked_next: Vec::new(),
            difference: None,
            marker: None,
            detail: Some(shorten(detail, MAX_DETAIL)),
            remedies: Vec::new(),
            started_by: String::new(),
            started_version: None,
            artifact: String::new(),
            version: None,
            renamed: None,
            told_from: ToldFrom::default(),
        };
        error.advise();
        error
    }

    /// The program has no workflow or activity of that name. `what` is `workflow` or `activity`, `closest` the
    /// registered one whose name is most like it.
    #[must_use]
    pub fn not_registered(
        run: impl fmt::Display,
        workflow: &str,
        event: u64,
        what: &str,
        name: &str,
        closest: Option<&str>,
    ) -> Self {
        let mut detail = format!("no {what} `{name}` is registered in this program");
        if let Some(closest) = closest {
            detail += &format!("; there is one called `{closest}`");
        }
        let kind = IncompatibleKind::NotRegistered;
        let mut error = Self::found(kind, run, workflow, event, detail);
        let register = Remedy::Register {
            name: name.to_owned(),
            closest: closest.map(str::to_owned),
        };
        error.remedies.insert(0, register);
        error
    }

    /// Adds the programs: the one that began the run, and the one that was to go on with it.
    #[must_use]
    pub fn between(mut self, started_by: &str, artifact: &str) -> Self {
        self.started_by = shorten(started_by.to_owned(), MAX_ARTIFACT);
        self.artifact = shorten(artifact.to_owned(), MAX_ARTIFACT);
        self.advise();
        self
    }

    /// Says what else there is to say.
    pub(crate) fn explain(&mut self, detail: String) {
        self.detail = Some(shorten(detail, MAX_DETAIL));
    }

    /// Says which marker it is about.
    pub(crate) fn about_marker(mut self, marker: MarkerMismatch, detail: Option<String>) -> Self {
        self.marker = Some(marker);
        self.detail = detail.map(|detail| shorten(detail, MAX_DETAIL));
        self.advise();
        self
    }

    /// Adds the programs that are known to fit, the likeliest first: one of them can be started again. None: none
    /// of the known ones does.
    #[must_use]
    pub fn served_by(mut self, artifacts: Vec<String>) -> Self {
        self.remedies
            .retain(|remedy| !matches!(remedy, Remedy::StartArtifact { .. }));
        // An empty list is an answer too.
        self.remedies.push(Remedy::StartArtifact { artifacts });
        self.advise();
        self
    }

    /// The number of the operation that it is about, where it is about one.
    #[must_use]
    pub fn operation(&self) -> Option<u64> {
        let side = self.recorded.as_ref().or(self.asked.as_ref());
        side.and_then(|side| side.operation)
    }

    /// The text with colours, for a terminal. Logs get the plain one.
    #[must_use]
    pub fn coloured(&self) -> Coloured<'_> {
        Coloured::of(self)
    }

    /// The error that the details of a blocked run hold, where they hold one of these.
    #[must_use]
    pub fn from_details(details: &crate::value::Value) -> Option<Self> {
        #[derive(Deserialize)]
        struct Details {
            incompatible: Incompatible,
        }
        details
            .decode()
            .ok()
            .map(|Details { incompatible }| incompatible)
    }

    /// The same with what the replay saw from the first difference on, and with the kind that this shows.
    pub(crate) fn told_from(mut self, evidence: Evidence) -> Self {
        self.told_from = ToldFrom(Some(Box::new((self.kind, evidence))));
        self.tell();
        self
    }

    /// The same after a look at what follows the unit in the history.
    pub(crate) fn look_ahead(mut self, units: &[Unit]) -> Self {
        if let ToldFrom(Some(told)) = &mut self.told_from {
            told.1.look_ahead(units);
            self.tell();
        }
        self
    }

    /// Whether the code asks for the marker that the history has, though not here.
    fn marker_stands(&self) -> bool {
        let told = self.told_from.0.as_ref();
        told.is_some_and(|told| told.1.marker_stands)
    }

    fn tell(&mut self) {
        let ToldFrom(Some(told)) = &self.told_from else {
            return;
        };
        let (found, evidence) = &**told;
        let verdict = evidence.classify(*found);
        self.kind = verdict.kind;
        if *found == IncompatibleKind::MarkerRemoved {
            let is_it = self.kind == *found;
            self.marker = evidence.marker.clone().filter(|_| is_it);
        }
        let said = [verdict.detail, evidence.note.clone()];
        let said: Vec<_> = said.into_iter().flatten().collect();
        self.detail = (!said.is_empty()).then(|| said.join("\n"));
        self.renamed = None;
        let name = self.recorded.as_ref().and_then(|side| side.name.as_ref());
        if let Some(name) = name.filter(|_| verdict.renamed) {
            let is_stub =
                (self.asked.as_ref()).is_some_and(|asked| asked.what.starts_with("stub "));
            let attribute = if is_stub { "stub" } else { "activity" };
            let name = name.escape_debug();
            self.renamed = Some(format!("#[{attribute}(name = \"{name}\")]"));
        }
        if self.kind != IncompatibleKind::ChangedInput {
            self.difference = None;
        }
        self.recorded_next = window::kept(&evidence.recorded, &[]);
        self.asked_next = window::kept(&evidence.asked, &evidence.ahead);
        self.advise();
    }
}
