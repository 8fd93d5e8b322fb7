//! Why there is no record.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no record.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// A function of the C library is still called in this program.
    NotLinked {
        /// Its name.
        name: &'static str,
    },
    /// The system said no.
    Io {
        /// To what.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// Something in the folder is neither a file nor a folder.
    Unsupported {
        /// Where.
        path: PathBuf,
    },
    /// Something happened that was not seen.
    Unseen {
        /// Where.
        path: PathBuf,
        /// What.
        what: &'static str,
    },
    /// A call did not come to an end.
    Busy {
        /// Where.
        folder: PathBuf,
    },
}

impl RecordError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLinked { name } => write!(
                f,
                "calls of `{name}` do not come to the recorder\n\n\
                 help: link `perennial-powercut` into the program itself, not into a library that it loads, \
                 and let nothing else define `{name}`"
            ),
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Unsupported { path } => write!(
                f,
                "{} is neither a file nor a folder\n\nhelp: record a folder that holds nothing else",
                path.display()
            ),
            Self::Unseen { path, what } => write!(
                f,
                "{}: {what}\n\n\
                 help: the record is of no use; use calls of the C library, as the standard library does, and \
                 no system calls of your own, mappings or other processes",
                path.display()
            ),
            Self::Busy { folder } => write!(
                f,
                "a call on a file in {} does not come to an end\n\n\
                 help: end the threads that write there before you end the record",
                folder.display()
            ),
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
