//! Sources and locks that cannot be read.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{Unreadable, texts};

/// A source or a lock that cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum SourceError {
    /// A file or a folder cannot be read.
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A source is no Rust.
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The lock is none (L309).
    Lock {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: Unreadable,
    },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Read { path, error } => {
                write!(f, "{}: it cannot be read: {error}", path.display())
            }
            SourceError::Parse {
                path,
                line,
                column,
                message,
            } => write!(
                f,
                "{}:{line}:{column}: it does not parse: {message}\n\nhelp: `cargo check` says more",
                path.display()
            ),
            SourceError::Lock { path, error } => write!(
                f,
                "{}:{}:1: {}",
                path.display(),
                error.line,
                unreadable(error)
            ),
        }
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SourceError::Read { error, .. } => Some(error),
            SourceError::Lock { error, .. } => Some(error),
            SourceError::Parse { .. } => None,
        }
    }
}

/// The whole text of L309.
pub(super) fn unreadable(error: &Unreadable) -> String {
    let text = error.to_string();
    let (what, more) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut helps: Vec<String> = more
        .lines()
        .map(|help| help.trim_start_matches("help: ").to_owned())
        .collect();
    if helps.is_empty() {
        helps.push("take the file as it was committed last; `perennial lock` writes it".to_owned());
    }
    texts::text("L309", what, "", &helps)
}
