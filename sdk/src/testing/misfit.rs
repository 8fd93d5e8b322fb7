//! What of a folder of histories does not fit the code.

use std::fmt;

use super::Touched;
use crate::Blocked;
use crate::history::NotAHistory;
use crate::prose::indent;

/// The worlds in which histories were replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worlds {
    /// The world as it is, on threads of their own: with other hash keys.
    Real,
    /// That one, and another one with another clock, other random bytes and other hash keys.
    RealAndChanged,
}

impl fmt::Display for Worlds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Real => {
                "each was replayed on a thread of its own, with other hash keys (no sandbox is linked that \
                 would change the clock and random bytes too)"
            }
            Self::RealAndChanged => {
                "each was replayed on a thread of its own, and again in a world with another clock, other \
                 random bytes and other hash keys"
            }
        })
    }
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
    OnlyHere(Blocked),
    /// The code decides what the history has, but has asked the operating system for something.
    Touched(Vec<Touched>),
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
            Self::OnlyHere(blocked) => write!(
                f,
                "it fits in the world as it is, and not with another clock, other random bytes and other hash \
                 keys: the workflow asks for one of these without the history\n\n{blocked}"
            ),
            Self::Touched(touched) => {
                f.write_str("the workflow asks the operating system, and no history records it")?;
                for Touched {
                    rule, call, place, ..
                } in touched
                {
                    write!(f, "\n\n  [{rule}] {call}")?;
                    if !place.is_empty() {
                        write!(f, "\n    {}", indent(place, 4))?;
                    }
                }
                Ok(())
            }
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
    /// The worlds in which they were replayed.
    pub worlds: Worlds,
}

impl fmt::Display for Misfits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            folder,
            fit,
            misfits,
            worlds,
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
        writeln!(f, "\n{worlds}")?;
        f.write_str(
            "help: where runs may be in flight with such a history, keep the code that it fits; where there are \
             none any more, delete the file",
        )
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for Misfits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Misfits {}
