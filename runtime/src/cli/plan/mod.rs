//! `plan`: which open runs a program can go on with, before it is deployed (S39, O49).

mod gather;
mod serve;
mod text;

use std::path::{Path, PathBuf};

use perennial::value::Value;
use serde::{Deserialize, Serialize};

use super::judge::{Judge, Program, Scope};
use super::source::{Source, SourceError};
use crate::builder::{Builder, StoreSource};
use gather::Gathered;

/// How a plan is made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanOptions {
    /// How many runs an entry names. Default: 5.
    pub ids: usize,
    /// Only what is recorded is looked at, and not what waits for a run.
    pub recorded_only: bool,
    /// Where a store is copied to. Default: the system's folder for what is temporary.
    pub scratch: PathBuf,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            ids: 5,
            recorded_only: false,
            scratch: std::env::temp_dir(),
        }
    }
}

/// Which open runs a program can go on with.
///
/// A run is *covered* when this program decides what its history has, and what waits for it brings no error. All
/// others are uncovered: deployed as it is, the program would leave each of them blocked where it stands.
///
/// As JSON it has the fields as they are here; what comes later are more fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// The number of the form: 1.
    pub format: u64,
    /// The program.
    pub artifact: String,
    /// What was looked at, in words.
    pub source: String,
    /// How many runs have ended. They are not looked at.
    pub ended: u64,
    /// How many runs are open.
    pub open: u64,
    /// How many of those are covered.
    pub covered: u64,
    /// How many of the covered ones are blocked now and go on with this program.
    pub freed: u64,
    /// The open runs that are not covered, those with the same error together.
    pub uncovered: Vec<Uncovered>,
    /// How many open runs are uncovered in further places than are listed.
    pub more: u64,
    /// The other programs that are recorded there.
    pub programs: Vec<Recorded>,
}

/// Open runs that a program does not cover, for the same reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Uncovered {
    /// The workflow; empty where not even that is known.
    pub workflow: String,
    /// The code of the error. `unfit`: the name of this program is recorded as that of one that can never go on
    /// with the runs. `partial`: not all of the runs is there.
    pub code: String,
    /// The name that goes with the code, where there is one.
    pub kind: Option<String>,
    /// How many runs.
    pub count: u64,
    /// The runs, those together that the same programs can serve. Those that none can serve come first.
    pub parts: Vec<Part>,
    /// The error of the first run, as it would be blocked with.
    pub error: String,
    /// All fields of that error.
    pub details: Option<Value>,
}

/// Uncovered runs that the same programs can serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Part {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub runs: Vec<String>,
    /// The recorded programs that can serve them, the best one first; empty: none is known.
    pub served_by: Vec<Server>,
}

/// A program that can serve runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Server {
    /// Its name.
    pub artifact: String,
    /// What speaks for it.
    pub because: Because,
}

/// Why a program is taken for one that can serve a run. Nothing that is recorded speaks against it in any case: it
/// has the workflow, the activities that the run has called and the versions of its markers, and was not found unfit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Because {
    /// It began the run.
    Began,
    /// Its workflow has the structure of that in the program that began the run.
    SameStructure,
    /// It has the workflow; it was not tried.
    Untried,
}

/// A program that is recorded in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recorded {
    /// Its name.
    pub artifact: String,
    /// When that was recorded.
    pub at: perennial::Timestamp,
    /// How many of the runs that are uncovered it can serve.
    pub serves: u64,
}

impl Uncovered {
    /// How many of the runs no recorded program can serve.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let lost = self.parts.iter().filter(|part| part.served_by.is_empty());
        lost.map(|part| part.count).sum()
    }
}

impl Plan {
    /// Whether this program covers all open runs.
    #[must_use]
    pub fn covers_all(&self) -> bool {
        self.uncovered.is_empty() && self.more == 0
    }

    /// How many open runs are uncovered.
    #[must_use]
    pub fn count_uncovered(&self) -> u64 {
        self.open - self.covered
    }

    /// As JSON, over several lines and with a line end.
    #[must_use]
    pub fn to_json(&self) -> String {
        // It has nothing that JSON has not.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_else(|_| "null".to_owned());
        text.push('\n');
        text
    }
}

/// Replays all open runs in an export, a copy of a store that is stopped, or a folder of histories. Nothing is
/// written there: a store is copied first, and refused while it is in use. No activity runs; the code of workflows
/// does, as in a replay, and beyond it as far as what waits for a run takes it.
///
/// # Errors
///
/// [`SourceError`]: what is there cannot be read. Nothing is said of its runs then.
pub fn plan(
    builder: &Builder,
    path: impl AsRef<Path>,
    options: &PlanOptions,
) -> Result<Plan, SourceError> {
    let source = Source::at(path.as_ref(), &options.scratch)?;
    of(builder, &source, options)
}

/// Of the store that the builder was given.
pub(super) fn plan_own(builder: &Builder, options: &PlanOptions) -> Result<Plan, SourceError> {
    match &builder.store {
        StoreSource::Folder(folder) => plan(builder, folder, options),
        StoreSource::Store(store) => of(builder, &Source::Open(&**store), options),
    }
}

fn of(builder: &Builder, source: &Source<'_>, options: &PlanOptions) -> Result<Plan, SourceError> {
    let program = Program::of(builder);
    let scope = Scope {
        ended_too: false,
        ahead: !options.recorded_only,
    };
    super::apart(|| {
        let gathered = Gathered::new(options.ids);
        let mut judge = Judge::new(&program, scope, gathered);
        source.read(&mut judge)?;
        Ok(judge.told.plan(&judge.program.artifact, source.name()))
    })
}
