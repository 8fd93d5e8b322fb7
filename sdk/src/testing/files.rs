//! Histories in files: a test keeps those that released code has written.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::{env, fmt, io};

use super::Recorded;
use crate::history::{Decision, History, NotAHistory, Observation, Render, render};

/// With this in the environment, [`save_history`] replaces what differs.
const UPDATE: &str = "PERENNIAL_UPDATE";

/// A path of the package whose test runs, as cargo tells it; elsewhere one of the working folder.
pub(super) fn in_package(path: &Path) -> PathBuf {
    match env::var_os("CARGO_MANIFEST_DIR") {
        Some(package) => Path::new(&package).join(path),
        None => path.to_owned(),
    }
}

/// A path as it is shown: the same on each machine.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

/// Saves a run's history as a JSON file, so that [`check_histories`](super::check_histories) replays it against
/// later code. The path counts from the package's folder; folders that are missing are made.
///
/// A file that holds the same history stays as it is; call sites and the program's name do not count, since
/// they change with the code around. One that holds another history stays as it is too, and that is an error:
/// what released code has written is not to be lost. With `PERENNIAL_UPDATE=1` in the environment it is
/// replaced.
///
/// A history from production comes from `run.history().await?.history` of `perennial-runtime`. It holds inputs,
/// results and errors in clear.
///
/// # Errors
///
/// [`NotSaved`].
pub fn save_history(run: &impl Recorded, path: impl AsRef<Path>) -> Result<(), NotSaved> {
    let path = path.as_ref();
    let update = env::var_os(UPDATE).is_some_and(|value| !value.is_empty() && value != "0");
    save(&run.history(), &in_package(path), &shown(path), update)
}

fn save(history: &History, path: &Path, name: &str, update: bool) -> Result<(), NotSaved> {
    let io = |error: io::Error| NotSaved::Io {
        file: name.to_owned(),
        error: error.to_string(),
    };
    if !update {
        match fs::read_to_string(path) {
            Ok(text) => match differs(&text, history) {
                None => return Ok(()),
                Some(difference) => {
                    return Err(NotSaved::Different {
                        file: name.to_owned(),
                        difference,
                    });
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io(error)),
        }
    }
    let text = history.to_json().map_err(|error| NotSaved::Unwritable {
        file: name.to_owned(),
        error,
    })?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io)?;
    }
    // Whole or not at all: another test may be reading the folder.
    let mut new = path.file_name().unwrap_or(OsStr::new("")).to_owned();
    new.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(new);
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&new);
        io(error)
    })
}

/// How what a file holds differs from `history`, if it does.
fn differs(text: &str, history: &History) -> Option<String> {
    let kept = match History::from_json(text) {
        Ok(kept) => kept,
        Err(error) => return Some(error.to_string()),
    };
    let (bare_kept, bare_new) = (bare(&kept), bare(history));
    if bare_kept == bare_new {
        return None;
    }
    if kept.run != history.run || kept.generation != history.generation {
        return Some(format!(
            "run {}, generation {}, is now {}, generation {}",
            kept.run, kept.generation, history.run, history.generation
        ));
    }
    let options = Render {
        times: true,
        ..Render::default()
    };
    let (kept, new) = (
        render(&bare_kept.units, options),
        render(&bare_new.units, options),
    );
    let (mut kept, mut new) = (kept.lines(), new.lines());
    loop {
        match (kept.next(), new.next()) {
            (None, None) => return Some("a value that the text of a history does not show".into()),
            (kept, new) if kept == new => {}
            (kept, new) => {
                let line = |line: Option<&str>| line.unwrap_or("(it has ended)").to_owned();
                return Some(format!("- {}\n+ {}", line(kept), line(new)));
            }
        }
    }
}

/// Without what changes with the code around: call sites, and the name of the program.
fn bare(history: &History) -> History {
    let mut history = history.clone();
    for unit in &mut history.units {
        if let Observation::Started(started) = &mut unit.observation {
            started.artifact.clear();
        }
        for decision in &mut unit.decisions {
            match decision {
                Decision::ActivityScheduled { site, .. }
                | Decision::TimerStarted { site, .. }
                | Decision::Recorded { site, .. }
                | Decision::ReceiveStarted { site, .. }
                | Decision::Emitted { site, .. }
                | Decision::UpdateAnswered { site, .. }
                | Decision::StubOffered { site, .. }
                | Decision::SendRequested { site, .. }
                | Decision::FulfilRequested { site, .. }
                | Decision::Marker { site, .. } => *site = None,
                Decision::Received { .. }
                | Decision::StubInvalid { .. }
                | Decision::SetClosed { .. }
                | Decision::Dropped { .. }
                | Decision::Completed { .. }
                | Decision::Failed { .. } => {}
            }
        }
    }
    history
}

/// A history that was not saved.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSaved {
    /// The file holds another history, and was left as it is.
    Different {
        /// The file.
        file: String,
        /// The first difference.
        difference: String,
    },
    /// The history cannot be written as JSON.
    Unwritable {
        /// The file.
        file: String,
        /// Why.
        error: NotAHistory,
    },
    /// The system said no.
    Io {
        /// The file.
        file: String,
        /// What the system said.
        error: String,
    },
}

impl fmt::Display for NotSaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Different { file, difference } => {
                write!(f, "{file} holds another history, and was left as it is\n\n")?;
                for line in difference.lines() {
                    writeln!(f, "      {line}")?;
                }
                write!(
                    f,
                    "\nhelp: if released code has written it, keep it, and save this one under another name\n\
                     help: if not, `{UPDATE}=1` in the environment replaces it"
                )
            }
            Self::Unwritable { file, error } => write!(f, "{file} was not written: {error}"),
            Self::Io { file, error } => write!(f, "{file} cannot be written or read: {error}"),
        }
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for NotSaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NotSaved {}
