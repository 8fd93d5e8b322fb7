//! What of a folder of histories does not fit the code.

use std::fmt;

use super::diverged::Diverged;
use super::report::Changed;
use crate::Blocked;
use crate::history::NotAHistory;

/// How histories that fit were replayed again.
pub(super) fn replayed(changed: Changed) -> String {
    let more = match changed {
        Changed::HashKeys => " (link `perennial-sandbox` to change the clock and random bytes too)",
        Changed::All => "",
    };
    format!(
        "each was replayed on a fresh thread, the first of each kind in 16 changed worlds, with {changed}{more}"
    )
}

/// Why something in a folder of histories does not fit the code.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unfit {
    /// There is no such folder, or it cannot be read.
    NoFolder {
        /// What the system said.
        error: String,
    },
    /// The folder has no histories.
    Empty,
    /// Two of the workflows that were given have the same name.
    SameName {
        /// The name.
        workflow: &'static str,
    },
    /// The file cannot be read.
    Io {
        /// What the system said.
        error: String,
    },
    /// The file holds no history.
    NotAHistory(NotAHistory),
    /// The file holds no export that is whole.
    NotAnExport {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A salvage wrote the export, and could not read all of the run.
    Partial,
    /// The history has no first event, or that is not `started`.
    NotStarted,
    /// The history is one of a workflow that was not given.
    UnknownWorkflow {
        /// The workflow.
        workflow: String,
        /// The workflows that were given.
        given: Vec<&'static str>,
        /// The one of them whose name is most like it.
        closest: Option<&'static str>,
    },
    /// The code does not decide what the history has.
    Blocked(Blocked),
    /// It does in the world as it is, and not in another one.
    Diverged(Box<Diverged>),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder { error } => write!(
                f,
                "the folder cannot be read: {error}\n\n\
                 help: the path counts from the folder of the package; \
                 `perennial::testing::save_history(&run, \"..\")` makes the first file"
            ),
            Self::Empty => f.write_str(
                "the folder has no histories: no file in it ends in `.json` or `.jsonl`, so that nothing was \
                 checked\n\n\
                 help: `perennial::testing::save_history(&run, \"..\")` makes the first file",
            ),
            Self::SameName { workflow } => write!(
                f,
                "two of the workflows that were given have the name `{workflow}`, so that nothing was checked\n\n\
                 help: give the one that is released"
            ),
            Self::Io { error } => write!(f, "the file cannot be read: {error}"),
            Self::NotAHistory(error) => write!(
                f,
                "{error}\n\nhelp: `save_history` and `history.to_json()` write such files; one that newer \
                 software has written may have events that are not known here"
            ),
            Self::NotAnExport { line, problem } => write!(
                f,
                "not an export that is whole: line {line}: {problem}\n\n\
                 help: `perennial store export` writes such files; take another export"
            ),
            Self::Partial => f.write_str(
                "the run is not whole: the salvage that wrote this export could not read all of it",
            ),
            Self::NotStarted => f.write_str("the history does not begin with the event `started`"),
            Self::UnknownWorkflow {
                workflow,
                given,
                closest,
            } => {
                write!(
                    f,
                    "it is the history of the workflow `{}`, which is not among those to check: {}\n\n",
                    workflow.escape_debug(),
                    given.join(", ")
                )?;
                match closest {
                    Some(closest) => write!(
                        f,
                        "help: did you mean `{closest}`? A workflow that has got another name keeps its runs with \
                         `#[workflow(name = \"{}\")]`",
                        workflow.escape_debug()
                    ),
                    None => f.write_str("help: give that workflow too"),
                }
            }
            Self::Blocked(blocked) => blocked.fmt(f),
            Self::Diverged(diverged) => diverged.fmt(f),
        }
    }
}

/// Something in a folder of histories that does not fit the code.
#[derive(Debug)]
#[non_exhaustive]
pub struct Misfit {
    /// The file, below the folder; empty: the folder itself.
    pub file: String,
    /// The run, where it is about one.
    pub run: Option<String>,
    /// Why it does not fit.
    pub why: Unfit,
}

/// All of a folder of histories that does not fit the code.
#[non_exhaustive]
pub struct Misfits {
    /// The folder, as it was given.
    pub folder: String,
    /// How many histories fit.
    pub fit: usize,
    /// What does not.
    pub misfits: Vec<Misfit>,
    /// What was different when those that fit were replayed again.
    pub changed: Changed,
}

impl fmt::Display for Misfits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            folder,
            fit,
            misfits,
            changed,
        } = self;
        let of_folder = misfits.iter().all(|misfit| misfit.file.is_empty());
        if of_folder {
            writeln!(f, "{folder} shows nothing about this code")?;
        } else {
            let count = misfits.len();
            writeln!(
                f,
                "{count} of {} histories in {folder} {} not fit this code",
                count + fit,
                if count == 1 { "does" } else { "do" }
            )?;
        }
        for Misfit { file, run, why } in misfits {
            if !file.is_empty() {
                let run = run.as_ref().map(|run| format!(", run {run}"));
                writeln!(f, "\n── {file}{} ──", run.unwrap_or_default())?;
            }
            writeln!(f, "\n{why}")?;
        }
        if of_folder {
            return Ok(());
        }
        write!(f, "\n{}", replayed(*changed))?;
        let blocked = |misfit: &Misfit| matches!(misfit.why, Unfit::Blocked(_));
        if misfits.iter().any(blocked) {
            f.write_str(
                "\nhelp: where runs may be in flight with such a history, keep the code that it fits; where there \
                 are none any more, delete the file",
            )?;
        }
        Ok(())
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for Misfits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Misfits {}
