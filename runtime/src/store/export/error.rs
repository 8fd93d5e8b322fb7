//! What can go wrong with exports.

use std::fmt;
use std::io;
use std::path::PathBuf;

use perennial::RunKey;

use crate::store::{OpenError, StoreError};

/// Why an export could not be written. There is no file then, or it has no last line.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ExportError {
    /// The store could not be read. A run that is damaged is not passed over.
    Store(StoreError),
    /// There is something at the path already.
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The system said no.
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        error: String,
    },
    /// The runtime was stopped meanwhile.
    Stopped,
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "the store could not be exported: {error}"),
            Self::Exists { path } => write!(
                f,
                "there is something at {} already\n\n\
                 help: an export replaces nothing; choose another name, such as one with the date in it",
                path.display()
            ),
            Self::Io { what, error } => {
                write!(f, "the export could not be written: {what}: {error}")
            }
            Self::Stopped => f.write_str("the runtime was stopped before the export was complete"),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ExportError {}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Of the place that lines are written to.
impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Io {
            what: "writing a line".into(),
            error: error.to_string(),
        }
    }
}

/// Why an export cannot be read: what is wrong, and in which line, counted from 1.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Unreadable {
    /// Its first line is not that of an export.
    NotAnExport {
        /// The name of the file.
        name: String,
    },
    /// It was written by newer software.
    Newer {
        /// The name of the file.
        name: String,
        /// The format of the export.
        format: u64,
        /// The highest format that is understood here.
        understood: u64,
    },
    /// A line that does not belong there, or is not understood.
    Line {
        /// The name of the file.
        name: String,
        /// The line.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// Something in these lines is not what was written.
    Changed {
        /// The name of the file.
        name: String,
        /// The first of the lines.
        from: u64,
        /// The last of the lines.
        to: u64,
    },
    /// It ends before its last line.
    Truncated {
        /// The name of the file.
        name: String,
        /// How many whole lines it has.
        lines: u64,
    },
    /// The system said no.
    Io {
        /// The name of the file.
        name: String,
        /// What the system said.
        error: String,
    },
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnExport { name } => write!(
                f,
                "{name} is not an export: its first line does not say so\n\n\
                 help: exports are written by `perennial store export` and by `client.export(..)`"
            ),
            Self::Newer {
                name,
                format,
                understood,
            } => write!(
                f,
                "{name} was written by newer software (format {format}; this one understands up to {understood})\
                 \n\nhelp: use that software, or a newer one"
            ),
            Self::Line {
                name,
                line,
                problem,
            } => write!(f, "{name}, line {line}: {problem}"),
            Self::Changed { name, from, to } => {
                match from {
                    from if from == to => write!(f, "{name}, line {from}: it is")?,
                    from => write!(f, "{name}, lines {from} to {to}: something is")?,
                }
                f.write_str(
                    " not what was written; the checksum does not fit\n\n\
                     help: nothing of the file was used; take another export",
                )
            }
            Self::Truncated { name, lines } => write!(
                f,
                "{name} is cut short: it ends after line {lines}, and that is not its last\n\n\
                 help: nothing of the file was used; copy it again, or take another export"
            ),
            Self::Io { name, error } => write!(f, "{name} cannot be read: {error}"),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Unreadable {}

/// Why an export was not imported.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ImportError {
    /// The export cannot be read.
    Unreadable(Unreadable),
    /// Some of its runs are not whole.
    Partial {
        /// How many.
        runs: u64,
        /// One of them.
        run: RunKey,
    },
    /// The store did not take it.
    Store(StoreError),
    /// There is something in the place of the new store already.
    Exists {
        /// Its folder.
        folder: PathBuf,
    },
    /// The new store could not be opened.
    Open(OpenError),
    /// What the new store holds is not what the export says.
    Differs {
        /// What, in words.
        problem: String,
    },
    /// The system said no.
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        error: String,
    },
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::Partial { runs, run } => {
                match runs {
                    1 => write!(
                        f,
                        "run {run} of this export is not whole, so it could not go on"
                    )?,
                    runs => write!(
                        f,
                        "{runs} runs of this export are not whole, so they could not go on; {run} is the first"
                    )?,
                }
                f.write_str(
                    "\n\nhelp: nothing was imported; with `--leave-out-partial` the others are, and a run that is \
                     left out can be started again under its id",
                )
            }
            Self::Store(error) => write!(f, "the new store did not take the export: {error}"),
            Self::Exists { folder } => write!(
                f,
                "there is something at {} already\n\n\
                 help: an import makes a new store and never adds to one; choose another folder",
                folder.display()
            ),
            Self::Open(error) => error.fmt(f),
            Self::Differs { problem } => write!(
                f,
                "the new store does not hold what the export says: {problem}\n\nhelp: nothing was changed; please report this"
            ),
            Self::Io { what, error } => write!(f, "the export was not imported: {what}: {error}"),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ImportError {}

impl From<Unreadable> for ImportError {
    fn from(error: Unreadable) -> Self {
        Self::Unreadable(error)
    }
}

impl From<StoreError> for ImportError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
