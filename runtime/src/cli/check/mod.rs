//! `check`: all that can be known of a program before it is deployed, without a store and without the network
//! (O67).

mod histories;
mod lock;
mod manifest;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

use perennial_codegen::clippy::{self, NotCurrent};

use super::judge::Program;
use super::source::shown;
use crate::builder::Builder;

/// What is checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckOptions {
    /// The folder of `Cargo.toml`. Default: that of the package that cargo runs, otherwise the working folder.
    pub folder: PathBuf,
    /// The folder of stored histories, counted from `folder`. Default: `tests/histories`, if it is there.
    pub histories: Option<PathBuf>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        Self {
            folder: package.unwrap_or_else(|| PathBuf::from(".")),
            histories: None,
        }
    }
}

/// What the checks of a program have found.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// The program.
    pub artifact: String,
    /// Its checks, in their order.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// Its name: `lock`, `clippy`, `histories` or `manifest`.
    pub name: &'static str,
    /// How it came out.
    pub state: CheckState,
    /// What was found, in a line.
    pub summary: String,
    /// All that is wrong.
    pub wrong: Vec<String>,
    /// What is not wrong and worth to know.
    pub remarks: Vec<String>,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckState {
    /// All is well.
    Well,
    /// There is nothing to check.
    Nothing,
    /// Something is wrong.
    Wrong,
}

impl Checked {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_well(&self) -> bool {
        let mut checks = self.checks.iter();
        checks.all(|check| check.state != CheckState::Wrong)
    }
}

/// Runs all checks of a program that need neither a store nor the network.
///
/// | check | what is wrong |
/// |---|---|
/// | `lock` | a released function differs from `perennial.lock` so that runs in flight would break |
/// | `clippy` | the entries of Perennial in `clippy.toml` are those of another version |
/// | `histories` | a stored history does not fit |
/// | `manifest` | an activity or a state is missing, or two functions have the same name |
///
/// A test can do it:
///
/// ```no_run
/// use perennial_runtime::cli::{CheckOptions, check};
/// # use perennial::prelude::*;
/// # #[workflow]
/// # async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> { Ok(cents) }
/// # fn program() -> perennial_runtime::Builder { perennial_runtime::Runtime::builder("./data").workflow(order) }
///
/// # #[allow(dead_code)] fn ready() {
/// // #[test]
/// check(&program(), &CheckOptions::default()).unwrap();
/// # }
/// ```
///
/// # Errors
///
/// [`Checked`] with all that was found, where something of it is wrong. Its text shows all.
pub fn check(builder: &Builder, options: &CheckOptions) -> Result<Checked, Checked> {
    let program = Program::of(builder);
    let checks = vec![
        lock::check(&options.folder),
        of_clippy(&options.folder),
        histories::check(&program, options),
        manifest::check(builder),
    ];
    let checked = Checked {
        artifact: program.artifact.to_string(),
        checks,
    };
    if checked.is_well() {
        Ok(checked)
    } else {
        Err(checked)
    }
}

impl Check {
    fn new(name: &'static str, state: CheckState, summary: impl Into<String>) -> Self {
        Self {
            name,
            state,
            summary: summary.into(),
            wrong: Vec::new(),
            remarks: Vec::new(),
        }
    }

    fn wrong(mut self, what: impl Into<String>) -> Self {
        self.wrong.push(what.into());
        self
    }

    fn remark(mut self, what: impl Into<String>) -> Self {
        self.remarks.push(what.into());
        self
    }
}

/// Whether clippy looks for the calls that workflows may not make, and for all of them.
fn of_clippy(folder: &Path) -> Check {
    const NAME: &str = "clippy";
    let Some(path) = clippy_toml(folder) else {
        let nothing = Check::new(NAME, CheckState::Nothing, "there is no clippy.toml");
        return nothing.remark(
            "`perennial clippy` makes a clippy.toml by which clippy finds the calls that workflows may not make, \
             under whatever name",
        );
    };
    let name = shown(path.strip_prefix(folder).unwrap_or(&path));
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            let wrong = Check::new(NAME, CheckState::Wrong, format!("{name} cannot be read"));
            return wrong.wrong(format!("{name}: {error}"));
        }
    };
    match clippy::is_current(&text) {
        Ok(()) => {
            let summary = format!("{name} has the calls that workflows may not make");
            Check::new(NAME, CheckState::Well, summary)
        }
        Err(error @ NotCurrent::Absent) => {
            let summary = format!("{name} has no entries of Perennial");
            Check::new(NAME, CheckState::Nothing, summary).remark(format!("{name}: {error}"))
        }
        Err(error) => {
            let summary = format!("{name} is not that of this version");
            Check::new(NAME, CheckState::Wrong, summary).wrong(format!("{name}: {error}"))
        }
    }
}

/// The file that clippy reads for the package in a folder: there or above it.
fn clippy_toml(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut files = folder
        .ancestors()
        .flat_map(|folder| [".clippy.toml", "clippy.toml"].map(|name| folder.join(name)));
    files.find(|file| file.is_file())
}
